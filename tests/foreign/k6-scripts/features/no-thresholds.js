// thresholds that a flag leaves out
// flags --no-thresholds
export { handleSummary } from "../data.js";
export const options = { iterations: 2, thresholds: { iterations: ["count>100"] } };
export default function () {}
