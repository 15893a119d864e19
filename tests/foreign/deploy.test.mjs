// The files of `deploy/`: rules and dashboards against a real Prometheus with a real scrape and a real load run; the rest
// against the tools that read it, as far as they work without a container engine. deploy-cluster.test.mjs has what is for
// several servers.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { dashboards, deployPath, metricsOf, questions, readDeploy, readYaml } from "./support/deployment.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { Server, plimsoll, plimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { Prometheus, promtool } from "./support/prometheus.mjs";
import { CHAT } from "./support/rpc-app.mjs";
import { folderOf } from "./support/scripts.mjs";

const { groups: GROUPS } = readYaml("prometheus", "rules.yml");
const RULES = GROUPS.flatMap(({ rules }) => rules);

/** Those of a single server; deploy-cluster.test.mjs has the others. */
const SERVER_RULES = GROUPS.filter(({ name }) => name !== "plimsoll-cluster").flatMap(({ rules }) => rules);

/** What Grafana would fill in. */
const VARIABLES = { job: "plimsoll", instance: ".*", testid: ".*", __rate_interval: "1m" };

/** Waits until every question has an answer, and until every metric that is named is there. */
async function assertAnswered(prometheus, asked) {
  for (const { panel, expr } of asked) {
    await eventually(async () => (await prometheus.query(expr)).length > 0, `an answer for the panel ${panel}: ${expr}`);
  }
  await assertThere(prometheus, asked.flatMap(({ expr }) => metricsOf(expr)));
}

async function assertThere(prometheus, names) {
  for (const name of new Set(names)) {
    await eventually(async () => (await prometheus.query(`{__name__="${name}"}`)).length > 0, `the metric ${name}`);
  }
}

describe("Prometheus", () => {
  test("promtool takes the configuration and the rules", async () => {
    for (const args of [
      ["check", "config", deployPath("prometheus", "prometheus.yml")],
      ["check", "config", deployPath("prometheus", "cluster.yml")],
      ["check", "rules", deployPath("prometheus", "rules.yml")],
      ["test", "rules", deployPath("prometheus", "rules.test.yml")],
    ]) {
      const { code, lines } = await promtool(args);
      assert.equal(code, 0, lines.join("\n"));
    }
  });

  test("every alert says why and what to do, and is tested with and without trouble", () => {
    const { tests } = readYaml("prometheus", "rules.test.yml");
    for (const { alert, labels, annotations } of RULES) {
      assert.match(labels.severity, /^(page|ticket)$/, alert);
      assert.deepEqual(Object.keys(annotations), ["summary", "why", "action"], alert);
      const cases = tests.find(({ name }) => name === alert)?.promql_expr_test ?? [];
      assert.ok(cases.every(({ expr }) => expr.includes(`alertname="${alert}"`)), alert);
      assert.deepEqual(cases.map(({ exp_samples }) => exp_samples.length > 0), [false, true], alert);
    }
    const names = RULES.map(({ alert }) => alert);
    assert.equal(new Set(names).size, names.length);
  });

  test("a scrape has all metrics of rules and dashboard, and no alert fires", async (t) => {
    const app = await GrpcApp.start();
    const args = ["--rpc_host", app.host, "--broadcast_key", "secret", "--metrics_port", "0", "--metrics_http", "/metrics"];
    const server = await Server.start(...args, "--stats_refresh_interval", "1");
    t.after(() => server.stop());
    t.after(() => app.kill());
    const [, address] = await server.logged(/Metrics are served on http:\/\/(\S+)\/metrics/);
    const config = readYaml("prometheus", "prometheus.yml");
    config.global = { scrape_interval: "1s", evaluation_interval: "1s" };
    config.rule_files = [deployPath("prometheus", "rules.yml")];
    config.scrape_configs[0].static_configs[0].targets = [address];
    const prometheus = await Prometheus.configured(t, config);

    const client = await CableClient.subscribed(server.ws("/cable"), CHAT);
    t.after(() => client.socket.terminate());
    let isOver = false;
    // Broadcasts continue for as long as a page is open.
    const talk = async () => {
      while (!isOver) {
        await server.broadcast({ stream: "room", data: "1" });
        await client.frames.next();
      }
    };
    const talking = talk();
    try {
      await assertAnswered(prometheus, questions(dashboards()["server.json"], VARIABLES));
      await assertThere(prometheus, SERVER_RULES.flatMap(({ expr }) => metricsOf(expr)));
    } finally {
      isOver = true;
      await talking;
    }
    const rules = await eventually(async () => {
      const rules = await prometheus.rules();
      return rules.every(({ health }) => health !== "unknown") && rules;
    }, "all rules to be evaluated");
    assert.deepEqual(rules.filter(({ health, state }) => health !== "ok" || state === "firing"), []);
    assert.equal(rules.length, RULES.length);
  });

  test("a load run has all metrics of its dashboard", async (t) => {
    const server = await Server.start("--app", "benchmark", "--broadcast_key", "secret");
    t.after(() => server.stop());
    const flags = readYaml("compose.yml").services.prometheus.command.filter((flag) => /remote-write|feature/.test(flag));
    const prometheus = await Prometheus.configured(t, { global: { scrape_interval: "1s" } }, ...flags);
    const cwd = folderOf(t, { "script.js": LOAD });
    const env = {
      ...loadVariables(),
      K6_PROMETHEUS_RW_SERVER_URL: prometheus.writeUrl,
      K6_PROMETHEUS_RW_PUSH_INTERVAL: "1s",
      HTTP_URL: server.http("/health"),
      CABLE_URL: server.ws("/cable"),
    };
    const run = plimsollIn({ cwd, env }, "run", "--quiet", "--out", "prometheus-rw", "--tag", "testid=today", "script.js");
    const variables = { ...VARIABLES, trend: "k6_cable_rtt_seconds" };
    await assertAnswered(prometheus, questions(dashboards()["load-run.json"], variables));
    const [{ metric }] = await prometheus.query("k6_vus");
    assert.equal(metric.testid, "today");
    const { code, stderr } = await run;
    assert.equal(code, 0, stderr);
  });
});

/** The variables that the README tells people to set for a run. */
function loadVariables() {
  const variables = readDeploy("README.md").matchAll(/(K6_PROMETHEUS_RW_\w+)=(\S+)/g);
  return Object.fromEntries([...variables].map(([, name, value]) => [name, value]));
}

/** Everything that the dashboard shows: HTTP, cable, checks, and arrivals without a free user. */
const LOAD = `
  import { check, sleep } from "k6";
  import http from "k6/http";
  import cable from "k6/x/cable";
  const arrivals = { executor: "constant-arrival-rate", rate: 20, duration: "6s", preAllocatedVUs: 1, exec: "late" };
  const users = { executor: "constant-vus", vus: 2, duration: "6s" };
  export const options = { scenarios: { users, arrivals } };
  export default function () {
    check(http.get(__ENV.HTTP_URL), { "is alive": (r) => r.status === 200 });
    const client = cable.connect(__ENV.CABLE_URL);
    client.subscribe("BenchmarkChannel").roundTrip("echo", { payload: 1 }, { action: "echo" });
    sleep(0.05);
    client.disconnect();
  }
  export function late() {
    sleep(0.5);
  }
`;

describe("Grafana", () => {
  for (const [file, dashboard] of Object.entries(dashboards())) {
    test(`${file} is whole`, () => {
      const { panels, templating, uid } = dashboard;
      assert.equal(uid, `plimsoll-${file.replace("-run", "").replace(".json", "")}`);
      const ids = panels.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, "numbers of panels");
      const declared = templating.list.map(({ name }) => name);
      for (const panel of panels.filter(({ type }) => type !== "row")) {
        assert.ok(panel.title && panel.description, `${panel.id} has a title and says what it shows`);
        for (const { expr, datasource } of panel.targets) {
          assert.equal(datasource.uid, "${datasource}", panel.title);
          const used = [...expr.matchAll(/\$(\w+)/g)].map(([, name]) => name);
          assert.deepEqual(used.filter((name) => !declared.includes(name) && name !== "__rate_interval"), [], panel.title);
        }
      }
      assert.deepEqual(overlaps(panels), []);
    });
  }

  test("finds its data and its dashboards where the compose file puts them", () => {
    const { services } = readYaml("compose.yml");
    const [{ url }] = readYaml("grafana", "provisioning", "datasources", "prometheus.yml").datasources;
    assert.equal(url, "http://prometheus:9090");
    assert.ok(services.prometheus);
    const [{ options }] = readYaml("grafana", "provisioning", "dashboards", "plimsoll.yml").providers;
    assert.ok(services.grafana.volumes.includes(`./grafana/dashboards:${options.path}:ro`));
    const home = services.grafana.environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
    assert.ok(existsSync(deployPath(home.replace(options.path, "grafana/dashboards"))), home);
  });
});

/** Pairs of panels that would cover each other; a row is 24 wide. */
function overlaps(panels) {
  const places = panels.map(({ title, gridPos }) => ({ title, ...gridPos }));
  const cover = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
  return places.flatMap((a, n) => places.slice(n + 1).filter((b) => cover(a, b) || b.x + b.w > 24).map((b) => [a.title, b.title]));
}

describe("the compose file", () => {
  const { services, volumes } = readYaml("compose.yml");

  test("mounts what is there, and is open to this machine only", () => {
    for (const [name, service] of Object.entries(services)) {
      for (const volume of service.volumes ?? []) {
        const [source] = volume.split(":");
        assert.ok(source.startsWith(".") ? existsSync(deployPath(source)) : source in volumes, `${name}: ${volume}`);
      }
      for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/, name);
      for (const other of service.depends_on ?? []) assert.ok(other in services, other);
    }
  });

  test("starts a server with settings that it takes, where Prometheus looks for it", async () => {
    const { command, environment } = services.plimsoll;
    const { code, stdout, stderr } = await printConfig(command, environment);
    assert.equal(code, 0, stderr);
    // Nothing was ignored or renamed.
    assert.equal(stderr, "");
    const port = /^\[metrics\][^[]*^port = (\d+)/ms.exec(stdout)[1];
    const [{ static_configs }] = readYaml("prometheus", "prometheus.yml").scrape_configs;
    assert.deepEqual(static_configs[0].targets, [`plimsoll:${port}`]);
    assert.ok(services.plimsoll.ports.some((mapping) => mapping.endsWith(`:${/^port = (\d+)/m.exec(stdout)[1]}`)));
  });
});

/** What a server would start with, in `deploy/` instead of /etc. */
function printConfig(command, variables = {}) {
  const plain = Object.entries(variables).map(([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, "$1")]);
  const args = command.map((word) => word.replace("/etc/plimsoll", deployPath()));
  return plimsollIn({ env: Object.fromEntries(plain) }, ...args, "--print-config");
}

describe("the Dockerfile", () => {
  const text = readDeploy("Dockerfile");
  const [, arguments_] = /^CMD (\[.*\])$/m.exec(text);
  const [, check] = /^HEALTHCHECK.*\n +CMD (\[.*\])$/m.exec(text);

  test("is one, with the toolchain of the project", () => {
    const { validate } = createRequire(import.meta.url)("dockerfile-utils");
    assert.deepEqual(validate(text), []);
    const [, channel] = /channel = "(.+)"/.exec(readFileSync(deployPath("..", "rust-toolchain.toml"), "utf8"));
    assert.ok(text.includes(`FROM rust:${channel}-`) && text.includes(`RUSTUP_TOOLCHAIN=${channel}\n`), channel);
  });

  test("starts the program with words that it knows", async () => {
    const { code, stderr } = await printConfig([...JSON.parse(arguments_), "--ignore-config-path"]);
    assert.equal(code, 0, stderr);
  });

  test("asks a server for its health with the program itself", async (t) => {
    const server = await Server.start("--broadcast_key", "secret");
    t.after(() => server.isRunning && server.stop());
    const [program, ...words] = JSON.parse(check).map((word) => word.replace("127.0.0.1:8080", server.address));
    assert.ok(text.includes(`ENTRYPOINT ["${program}"]`));
    assert.equal((await plimsoll(...words)).code, 0);
    await server.stop();
    assert.equal((await plimsoll(...words)).code, 1);
  });
});

describe("the systemd unit", () => {
  const unit = readDeploy("systemd", "plimsoll.service");
  const [, program, ...words] = /^ExecStart=(\S+) (.*)$/m.exec(unit).flatMap((part, n) => (n === 2 ? part.split(" ") : [part]));

  test("is accepted by systemd, and well locked up", async (t) => {
    // It has to name a program that is there.
    const folder = folderOf(t, {});
    const path = join(folder, "plimsoll.service");
    writeFileSync(path, unit.replace(program, process.env.PLIMSOLL_BIN));
    assert.deepEqual(await analyze("verify", path), { code: 0, said: "" });
    const { code, said } = await analyze("security", "--offline=true", "--threshold=20", path);
    assert.equal(code, 0, said);
  });

  test("starts a server with settings that it takes, and lets it stop in its own time", async () => {
    const { code, stdout, stderr } = await printConfig(words);
    assert.equal(code, 0, stderr);
    const seconds = (name) => Number(new RegExp(`^${name} = (\\d+)`, "m").exec(stdout)[1]);
    const patience = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)[1]);
    assert.ok(patience > seconds("shutdown_delay") + seconds("shutdown_timeout"), `${patience}`);
  });
});

/** Runs systemd-analyze, which needs no running systemd for this: `{ code, said }`. */
function analyze(...args) {
  return new Promise((resolve) => {
    execFile("systemd-analyze", args, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, said: args[0] === "verify" ? stderr : stdout + stderr });
    });
  });
}
