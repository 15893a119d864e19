// Options from variables, which are text.

const { VUS, ITERATIONS, BATCH, TARGET } = __ENV;

export const options = TARGET === "" ? { stages: [{ duration: "1s", target: TARGET }] } : { vus: VUS, iterations: ITERATIONS, batch: BATCH };

export default function () {}

export { handleSummary } from "./data.js";
