// Setup data, environment, shared arrays and what `k6/execution` says, as checks that hold in both programs.

import { check } from "k6";
import { SharedArray } from "k6/data";
import exec from "k6/execution";
import { Counter } from "k6/metrics";

export { handleSummary } from "./data.js";

const seen = new Counter("seen");
const users = new SharedArray("users", () => Array.from({ length: 10 }, (_, i) => ({ name: `user ${i}` })));
const atInit = __VU;

export const options = {
  tags: { run: "both" },
  scenarios: {
    first: { executor: "shared-iterations", vus: 2, iterations: 10, env: { COLOUR: "blue" }, tags: { team: "a" } },
    second: { executor: "per-vu-iterations", vus: 1, iterations: 3, exec: "second", startTime: "1s" },
  },
  setupTimeout: "10s",
};

export function setup() {
  check(null, { "setup is no user": () => __VU === 0 && exec.vu.idInTest === 0 });
  const kinds = [new Map([["a", new Set([1])], ["b", undefined]]), new Uint8Array([1, 2]), new Uint16Array([3]), 10n, Symbol("x")];
  return { token: "abc", list: [1, 2, { deep: true }], nothing: null, missing: undefined, gaps: [undefined], kinds };
}

export default function (data) {
  check(data, {
    "data is JSON": (data) => data.token === "abc" && data.list[2].deep && data.nothing === null,
    "scenario environment": () => __ENV.COLOUR === "blue",
    "what JSON cannot say is null": (data) => data.missing === null && data.gaps[0] === null,
    "tags of the run and the scenario": () =>
      exec.vu.tags.run === "both" && exec.vu.metrics.tags.team === "a" && exec.vu.tags.scenario === "first",
    "names of all tags": () => Object.keys(exec.vu.tags).sort().join().startsWith("group,"),
    "option environment": () => __ENV.GIVEN === "yes",
    "user number at init": () => atInit === __VU && __VU === exec.vu.idInTest,
    "iteration number": () => __ITER === exec.vu.iterationInInstance,
    "scenario name": () => exec.scenario.name === "first" && exec.scenario.executor === "shared-iterations",
    "shared array": () => users.length === 10 && users[exec.scenario.iterationInTest % 10].name.startsWith("user"),
    "progress is a share": () => exec.scenario.progress >= 0 && exec.scenario.progress <= 1,
    "users there": () => exec.instance.vusInitialized === 3 && exec.instance.vusActive >= 1,
    "options are consolidated": () => exec.test.options.scenarios.first.iterations === 10,
  });
  exec.vu.metrics.tags.mine = `v${__VU}`;
  seen.add(exec.scenario.iterationInTest);
}

export function second(data) {
  check(data, {
    "its own environment": () => __ENV.COLOUR === undefined,
    "the same data": (data) => data.token === "abc",
    "tags are reset": () => exec.vu.tags.mine === undefined,
  });
  seen.add(100);
}

export function teardown(data) {
  check(data, { "teardown has data": (data) => data.token === "abc", "teardown is no user": () => __VU === 0 });
  seen.add(1000);
}
