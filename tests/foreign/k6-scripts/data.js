// What both programs know at the end of a run, in a file that the test compares.

export function handleSummary(data) {
  return { [__ENV.DATA]: JSON.stringify(data) };
}
