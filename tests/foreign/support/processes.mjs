// Other processes of this machine, as /proc shows them.

import { readFileSync, readdirSync } from "node:fs";
import { PATIENCE_MS } from "./deadline.mjs";

/** The processes that `pid` started, as numbers. */
export function childrenOf(pid) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
}

/** Whether the process runs; one that ended and was not waited for does not. */
export function isAlive(pid) {
  return stateOf(pid) !== null && stateOf(pid) !== "Z";
}

/**
 * What `look` returns, or resolves to, as soon as that is something; /proc does not announce changes, so it is looked
 * at often. `what` says what did not come if the wait was in vain; a function is called then.
 */
export function eventually(look, what, patienceMs = PATIENCE_MS) {
  const deadline = performance.now() + patienceMs;
  return new Promise((resolve, reject) => {
    const again = async () => {
      const found = await look();
      if (found) resolve(found);
      else if (performance.now() > deadline) reject(new Error(`waited ${patienceMs} ms for ${typeof what === "function" ? what() : what}`));
      else setTimeout(() => again().catch(reject), 20);
    };
    again().catch(reject);
  });
}

/** The fields of /proc/PID/stat after the name, which may hold anything but comes in parentheses. */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ");
  } catch {
    return null;
  }
}

const stateOf = (pid) => statOf(pid)?.[0] ?? null;
const parentOf = (pid) => Number(statOf(pid)?.[1] ?? -1);
