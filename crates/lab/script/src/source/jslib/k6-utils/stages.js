// The stage that the scenario is in.

import exec from "k6/execution";

const MILLISECONDS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 0.001, "µs": 0.001, ns: 0.000_001 };

/** Milliseconds of a text such as "1h30m", "1.5s" or "500"; without a unit it is milliseconds. */
export function parseDuration(text) {
  if (typeof text === "number" || (typeof text === "string" && /^\d+(\.\d+)?$/.test(text))) {
    return Number(text);
  }
  const isDuration = typeof text === "string" && /^(\d+(\.\d+)?(ms|us|µs|ns|[dhms]))+$/.test(text);
  if (!isDuration) {
    throw new Error(`${JSON.stringify(text)} is no duration; examples are "30s" and "1m30s"`);
  }
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])/g)) {
    sum += Number(number) * MILLISECONDS[unit];
  }
  return sum;
}

function currentScenario() {
  const { name } = exec.scenario;
  const scenario = exec.test.options.scenarios?.[name];
  if (!scenario?.stages?.length) {
    throw new Error(`scenario ${name} has no stages; ramping-vus and ramping-arrival-rate have`);
  }
  return scenario;
}

/** The index of the stage that is under way; the last one when all are over. */
export function getCurrentStageIndex() {
  const { stages } = currentScenario();
  const elapsed = Date.now() - exec.scenario.startTime;
  let end = 0;
  const index = stages.findIndex((stage) => {
    end += parseDuration(stage.duration);
    return elapsed < end;
  });
  return index === -1 ? stages.length - 1 : index;
}

/** Tags what follows in this iteration with `stage`, the index. */
export function tagWithCurrentStageIndex() {
  exec.vu.metrics.tags.stage = String(getCurrentStageIndex());
}

/** Tags what follows in this iteration with `stage_profile`: `ramp-up`, `steady` or `ramp-down`. */
export function tagWithCurrentStageProfile() {
  const scenario = currentScenario();
  const index = getCurrentStageIndex();
  const before = index === 0 ? (scenario.startVUs ?? scenario.startRate ?? 0) : scenario.stages[index - 1].target;
  const { target } = scenario.stages[index];
  exec.vu.metrics.tags.stage_profile = target > before ? "ramp-up" : target < before ? "ramp-down" : "steady";
}
