// a script without its function
// exit code 104
export { handleSummary } from "../data.js";
export const options = { iterations: 1 };
export function setup() {}
