// Thresholds as test cases, for build servers.

/** JUnit's XML. Options: name, of the suite; classname, of each case. */
export function jUnit(data, options = {}) {
  const suite = escaped(options.name ?? "k6 thresholds");
  const classname = options.classname === undefined ? "" : ` classname="${escaped(options.classname)}"`;
  const cases = [];
  let failures = 0;
  for (const [name, metric] of Object.entries(data.metrics)) {
    for (const [expression, { ok }] of Object.entries(metric?.thresholds ?? {})) {
      const start = `<testcase name="${escaped(`${name} - ${expression}`)}"${classname}`;
      failures += ok ? 0 : 1;
      cases.push(ok ? `${start} />` : `${start}><failure message="failed" /></testcase>`);
    }
  }
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return [
    '<?xml version="1.0"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="${suite}" ${counts}>`,
    ...cases,
    "</testsuite>",
    "</testsuites>",
  ].join("\n");
}

function escaped(text) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return String(text).replace(/[&<>"']/g, (character) => entities[character]);
}
