// options that cannot be together
// exit code 104
export const options = { scenarios: { a: { executor: "shared-iterations", exec: "nothing" } } };
export default function () {}
