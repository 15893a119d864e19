// The files of `deploy/`, as tests read them, and what dashboards and rules ask Prometheus.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { plimsollIn } from "./plimsoll.mjs";

const DEPLOY = fileURLToPath(new URL("../../../deploy/", import.meta.url));

export const deployPath = (...names) => join(DEPLOY, ...names);
export const readDeploy = (...names) => readFileSync(deployPath(...names), "utf8");
export const readYaml = (...names) => parse(readDeploy(...names), { strict: true, uniqueKeys: true, merge: true });

/** The settings that a server would have with these words and variables, as text; nothing may be ignored or renamed. */
export async function settingsOf(words, env) {
  const args = words.map((word) => word.replace("/etc/plimsoll", deployPath()));
  const { code, stdout, stderr } = await plimsollIn({ env }, ...args, "--print-config");
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return stdout;
}

/** The value of a key of a section, or above all sections. */
export function setting(settings, section, key) {
  const part = section === null ? settings : settings.split(`\n[${section}]\n`)[1];
  return new RegExp(`^${key} = "?(.+?)"?(  #.*)?$`, "m").exec(part)[1];
}

/** A setting that is a number of seconds. */
export const seconds = (settings, key) => Number(new RegExp(`^${key} = (\\d+)`, "m").exec(settings)[1]);

/** The longest time that a server takes to stop, in seconds. */
export const needed = (settings) =>
  ["shutdown_delay", "shutdown_slowdrain_period", "shutdown_timeout"].reduce((sum, name) => sum + seconds(settings, name), 0);

/** `{ "server.json": { … } }` */
export const dashboards = () =>
  Object.fromEntries(
    readdirSync(deployPath("grafana", "dashboards")).map((name) => [name, JSON.parse(readDeploy("grafana", "dashboards", name))]),
  );

/** The questions of a dashboard with its variables filled in: `[{ panel, expr }]`. */
export function questions(dashboard, variables) {
  return dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ panel: title, expr: fillIn(expr, variables) })),
  );
}

function fillIn(expr, variables) {
  return expr.replace(/\$(\w+)/g, (_, name) => {
    if (!(name in variables)) throw new Error(`the variable $${name} has no value: ${expr}`);
    return variables[name];
  });
}

/** The metrics that a PromQL expression names: its words that are not functions, keywords, labels or texts. */
export function metricsOf(expr) {
  const named = [...expr.matchAll(/__name__="([^"]+)"/g)].map(([, name]) => name);
  const bare = expr
    .replace(/"[^"]*"/g, "")
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, "")
    .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, "");
  const words = [...bare.matchAll(/(?<![\w.])[a-zA-Z_:][\w:]*\b(?!\s*\()/g)].map(([word]) => word);
  return [...named, ...words.filter((word) => !/^(and|or|unless|offset|bool|group_left|group_right)$/.test(word))];
}
