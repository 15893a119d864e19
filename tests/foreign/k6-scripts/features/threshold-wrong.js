// a threshold that cannot be read
// exit code 104
export { handleSummary } from "../data.js";
export const options = { thresholds: { iterations: ["count>"] } };
export default function () {}
