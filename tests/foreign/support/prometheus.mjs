// A real Prometheus that scrapes a server under test or takes what a load run writes, and promtool's opinion of a scrape.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { within } from "./deadline.mjs";
import { eventually } from "./processes.mjs";
import { freePort } from "./ports.mjs";

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export class Prometheus {
  #port;

  /** Scrapes `target` (`127.0.0.1:8080`) every second. Ends with the test. */
  static start(t, target) {
    return Prometheus.#run(t, [{ job_name: "plimsoll", static_configs: [{ targets: [target] }] }]);
  }

  /** Scrapes nothing and takes remote writes. Ends with the test. */
  static receiving(t) {
    return Prometheus.#run(t, [], "--web.enable-remote-write-receiver", "--enable-feature=native-histograms");
  }

  /** With a whole configuration. Ends with the test. */
  static configured(t, config, ...flags) {
    return Prometheus.#launch(t, config, ...flags);
  }

  static #run(t, scrape_configs, ...flags) {
    return Prometheus.#launch(t, { global: { scrape_interval: "1s" }, scrape_configs }, ...flags);
  }

  static async #launch(t, configuration, ...flags) {
    const prometheus = new Prometheus();
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-prometheus-"));
    const config = join(folder, "prometheus.json");
    // JSON is YAML, too.
    writeFileSync(config, JSON.stringify(configuration));
    prometheus.#port = await freePort();
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${prometheus.#port}`,
      ...flags,
    ];
    const child = spawn("prometheus", args, { stdio: ["ignore", "ignore", "pipe"] });
    running.add(child);
    const exited = once(child, "exit").then(() => running.delete(child));
    t.after(async () => {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true });
    });
    const ready = new Promise((resolve) => {
      createInterface({ input: child.stderr }).on("line", (line) => {
        if (line.includes("Server is ready to receive web requests")) resolve();
      });
    });
    const failed = exited.then(() => {
      throw new Error("prometheus did not start");
    });
    await within(Promise.race([ready, failed]), "prometheus");
    failed.catch(() => {});
    return prometheus;
  }

  /** Where load runs write to. */
  get writeUrl() {
    return `http://127.0.0.1:${this.#port}/api/v1/write`;
  }

  /** The series that a PromQL query finds now: `[{ metric, value: [time, text] }]`. */
  async query(query) {
    return (await this.#ask(`query?query=${encodeURIComponent(query)}`)).result;
  }

  /** The rules that it has read, with their health and state. */
  async rules() {
    return (await this.#ask("rules")).groups.flatMap(({ rules }) => rules);
  }

  async #ask(question) {
    const { status, data, error } = await (await fetch(`http://127.0.0.1:${this.#port}/api/v1/${question}`)).json();
    if (status !== "success") throw new Error(`${decodeURIComponent(question)}: ${error}`);
    return data;
  }

  /** Asks until the query finds one series with this value; Prometheus does not announce its scrapes. */
  eventuallyIs(query, expected) {
    return eventually(async () => {
      const [series] = await this.query(query);
      return series?.value[1] === String(expected) && series;
    }, `${query} to be ${expected}`);
  }
}

/** What `promtool check metrics` finds in a scrape, as lines; none is good. */
export async function promtoolFindings(scrape) {
  return (await promtool(["check", "metrics"], scrape)).lines;
}

/** Runs promtool: `{ code, lines }`, the lines of both outputs. */
export async function promtool(args, input = "") {
  const child = spawn("promtool", args, { stdio: ["pipe", "pipe", "pipe"] });
  running.add(child);
  const lines = [];
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on("line", (line) => lines.push(line));
  }
  child.stdin.end(input);
  const [code] = await within(once(child, "close"), "promtool");
  running.delete(child);
  return { code, lines };
}
