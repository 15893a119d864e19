// an executor that does not exist
// exit code 104
export const options = { scenarios: { a: { executor: "everything" } } };
export default function () {}
