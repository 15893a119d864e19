// a summary that cannot be made
export default function () {}
export function handleSummary() {
  throw new Error("no summary");
}
