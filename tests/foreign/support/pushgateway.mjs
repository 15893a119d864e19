// A real Pushgateway of Prometheus.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "./ports.mjs";
import { eventually } from "./processes.mjs";

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Starts one with these flags. Returns its `host:port`. */
export async function startPushgateway(t, ...flags) {
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn("prometheus-pushgateway", [`--web.listen-address=${address}`, ...flags], { stdio: "ignore" });
  running.add(child);
  const exited = once(child, "exit").then(() => running.delete(child));
  t.after(() => {
    child.kill("SIGKILL");
    return exited;
  });
  const isReady = () => fetch(`http://${address}/-/ready`).then(({ ok }) => ok, () => false);
  await eventually(isReady, "the Pushgateway to be ready");
  return address;
}

/** The figures that it keeps of load tests: `{ family: { metric: { value, job, …labels } } }`. */
export async function figuresOf(address) {
  const families = {};
  const text = await (await fetch(`http://${address}/metrics`)).text();
  for (const [, family, labels, value] of text.matchAll(/^(\w+)\{(.*metric=.*)\} (\S+)$/gm)) {
    const { metric, ...rest } = Object.fromEntries([...labels.matchAll(/(\w+)="(.*?)"/g)].map(([, name, text]) => [name, text]));
    (families[family] ??= {})[metric] = { value: Number(value), ...rest };
  }
  return families;
}
