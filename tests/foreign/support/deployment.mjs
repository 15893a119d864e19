// The files of `deploy/`, as tests read them, and what dashboards and rules ask Prometheus.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const DEPLOY = fileURLToPath(new URL("../../../deploy/", import.meta.url));

export const deployPath = (...names) => join(DEPLOY, ...names);
export const readDeploy = (...names) => readFileSync(deployPath(...names), "utf8");
export const readYaml = (...names) => parse(readDeploy(...names), { strict: true, uniqueKeys: true, merge: true });

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
