// What `deploy/` has for several servers: alerts and dashboard with each engine and a real Prometheus, the balancer with real
// servers that stop, move and lose their engine, manifests and compose files as Kubernetes and Compose read them, and the unit.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { CableClient } from "./support/cable.mjs";
import {
  dashboards, deployPath, metricsOf, needed, questions, readDeploy, readYaml, seconds, setting, settingsOf,
} from "./support/deployment.mjs";
import { built } from "./support/go.mjs";
import { startHaproxy, startResolver } from "./support/haproxy.mjs";
import { NatsServer, inJetStream } from "./support/nats.mjs";
import { Server } from "./support/plimsoll.mjs";
import { freePort, isFree } from "./support/ports.mjs";
import { eventually } from "./support/processes.mjs";
import { Prometheus } from "./support/prometheus.mjs";
import { RedisServer } from "./support/redis.mjs";
import { RedisCluster } from "./support/redis-cluster.mjs";
import { folderOf } from "./support/scripts.mjs";
import { inRedis } from "./support/shared-streams.mjs";
import { scrape } from "./support/scrape.mjs";

const NEWS = '{"channel":"$pubsub","stream_name":"news"}';

/** A fault of an engine lasts seconds, and a server waits up to 8 s before it tries again. */
const PATIENCE_MS = 60_000;

/** Engines that lose their data with each death. A broker tells of it when the engine is back. */
const ENGINES = {
  "--pubsub redis": { start: (t) => RedisServer.start(t), flags: ({ url }) => ["--pubsub", "redis", "--redis_url", url] },
  "--pubsub nats": { start: (t) => NatsServer.start(t), flags: ({ url }) => ["--pubsub", "nats", "--nats_servers", url] },
  "--broker redis": { start: (t) => RedisServer.start(t), flags: ({ url }) => inRedis(url) },
  "--broker redis in a Redis Cluster": {
    start: startForgetfulCluster,
    flags: ({ url }) => inRedis(url),
  },
  "--broker nats": {
    start: (t) => NatsServer.start(t, { jetStream: true, forgets: true }),
    flags: inJetStream,
  },
};

/** A Redis Cluster of which the node that has the stream `news` is killed. */
async function startForgetfulCluster(t) {
  const cluster = await RedisCluster.start(t, { forgets: true });
  const node = cluster.nodes[await cluster.primaryOf("news")];
  return { url: cluster.url, kill: () => node.kill(), resume: () => node.resume() };
}

describe("Prometheus", () => {
  const rules = readYaml("prometheus", "rules.yml").groups.find(({ name }) => name === "plimsoll-cluster").rules;
  const variables = { job: "plimsoll", instance: ".*", __rate_interval: "1m" };
  const asked = questions(dashboards()["cluster.json"], variables);
  const answered = new Set();
  const named = new Set();

  for (const [engine, { start, flags }] of Object.entries(ENGINES)) {
    test(`two servers with ${engine}: the dashboard has answers, and an alert tells of missed messages`, async (t) => {
      const store = await start(t);
      const all = ["--public", "--norpc", "--broadcast_key", "secret", "--broadcast_adapter", "http", ...flags(store)];
      const more = ["--metrics_http", "/metrics", "--stats_refresh_interval", "1"];
      const servers = await Promise.all([1, 2].map(() => Server.start(...all, ...more)));
      t.after(() => Promise.all(servers.map((server) => server.stop())));
      const config = readYaml("prometheus", "cluster.yml");
      config.global = { scrape_interval: "1s", evaluation_interval: "1s" };
      config.rule_files = [deployPath("prometheus", "rules.yml")];
      config.scrape_configs[0].static_configs[0].targets = servers.map(({ address }) => address);
      const prometheus = await Prometheus.configured(t, config);
      const firing = async () => (await prometheus.rules()).filter(({ state }) => state === "firing").map(({ name }) => name);

      const clients = await Promise.all(servers.map((server) => CableClient.subscribed(server.ws("/cable"), NEWS)));
      t.after(() => clients.forEach(({ socket }) => socket.terminate()));
      // Two scrapes with different counts are needed for a rate.
      await eventually(async () => {
        assert.equal((await servers[0].broadcast({ stream: "news", data: "1" })).status, 201);
        for (const client of clients) await client.frames.next();
        const [series] = await prometheus.query("min(rate(anycable_go_server_msg_total[1m]))");
        return Number(series?.value[1]) > 0;
      }, "deliveries on both servers");
      for (const { panel, expr } of asked) if ((await prometheus.query(expr)).length > 0) answered.add(panel + expr);
      for (const { metric } of await prometheus.query('{__name__=~"anycable_go_.+"}')) named.add(metric.__name__);
      const found = await eventually(async () => {
        const found = await prometheus.rules();
        return found.every(({ health }) => health !== "unknown") && found;
      }, "all rules to be evaluated");
      assert.deepEqual(found.filter(({ health, state }) => health !== "ok" || state === "firing"), []);

      await store.kill();
      const isDeaf = () => prometheus.query('anycable_go_dependency_up{dependency!="server"} == 0');
      await eventually(async () => (await isDeaf()).length >= 2, "both servers to notice", PATIENCE_MS);
      const isBroker = engine.startsWith("--broker");
      if (isBroker) await store.resume();
      const expected = isBroker ? "PlimsollMessagesLost" : "PlimsollMissedMessages";
      await eventually(async () => (await firing()).includes(expected), expected, PATIENCE_MS);
      assert.ok(clients.every(({ socket }) => socket.readyState === socket.OPEN));
    });
  }

  test("with one engine or another, every panel has answers, and every metric of rules and dashboard exists", () => {
    assert.deepEqual(asked.filter(({ panel, expr }) => !answered.has(panel + expr)), []);
    const wanted = [...asked, ...rules].flatMap(({ expr }) => metricsOf(expr));
    assert.deepEqual(wanted.filter((name) => !named.has(name)), []);
  });
});

/** What Kubernetes or Compose would be told; a field that they do not have is an error. */
async function manifests(...args) {
  const program = await built("manifests");
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 1 << 24 });
  return JSON.parse(stdout);
}

describe("the manifests for Kubernetes", () => {
  const cases = [
    ["redis", "PLIMSOLL_REDIS_URL", "redis://redis:6379", /^adapter = "redis"/m],
    ["redis", "PLIMSOLL_REDIS_URL", "redis://:s@redis-0:6379,redis://:s@redis-1:6379", /^adapter = "redis"/m],
    ["redis", "PLIMSOLL_REDIS_URL", "redis://redis-cluster:6379,", /^adapter = "redis"/m],
    ["nats", "PLIMSOLL_NATS_SERVERS", "nats://nats:4222", /^pubsub_adapter = "nats"/m],
    ["jetstream", "PLIMSOLL_NATS_SERVERS", "nats://nats-0:4222,nats://nats-1:4222", /^replicas = 3[^]*^adapter = "nats"/m],
  ];

  for (const [folder, variable, address, expected] of cases) {
    test(`${folder} with ${address}: fit together, and start a server with settings that it takes`, async () => {
      const resources = await manifests("kustomize", deployPath("kubernetes", folder));
      const of = (kind) => resources.find((resource) => resource.kind === kind);
      const { spec } = of("Deployment");
      const [container] = spec.template.spec.containers;
      const env = { PLIMSOLL_SECRET: "s", PLIMSOLL_RPC_HOST: "app:50051", PLIMSOLL_NODE_ID: "one", [variable]: address };
      assert.deepEqual(container.env.map(({ name }) => name), ["PLIMSOLL_NODE_ID"]);
      assert.ok(readDeploy("kubernetes", folder, "kustomization.yaml").includes(variable));
      const settings = await settingsOf(container.args, env);
      assert.match(settings, expected);
      assert.ok(spec.template.spec.terminationGracePeriodSeconds > needed(settings));
      assert.deepEqual(spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
      assert.equal(spec.replicas, 3);

      const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, String(containerPort)]));
      assert.deepEqual(ports, { cable: setting(settings, "server", "port"), metrics: setting(settings, "metrics", "port") });
      const { readinessProbe, livenessProbe } = container;
      assert.deepEqual([readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.path), ["/ready", "/health"]);
      assert.ok(needed(settings) > readinessProbe.periodSeconds * readinessProbe.failureThreshold);
      const named = [
        ...[readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.port),
        ...of("Service").spec.ports.map(({ targetPort }) => targetPort),
        ...of("NetworkPolicy").spec.ingress.flatMap(({ ports }) => ports.map(({ port }) => port)),
      ];
      for (const name of named) assert.ok(name in ports, name);
      const [{ http }] = of("Ingress").spec.rules;
      const { name, port } = http.paths[0].backend.service;
      assert.equal(name, of("Service").metadata.name);
      assert.ok(of("Service").spec.ports.some((one) => one.name === port.name));

      const labels = spec.template.metadata.labels;
      const selectors = [
        spec.selector.matchLabels,
        of("Service").spec.selector,
        of("PodDisruptionBudget").spec.selector.matchLabels,
        of("NetworkPolicy").spec.podSelector.matchLabels,
      ];
      for (const [label, value] of selectors.flatMap(Object.entries)) assert.equal(labels[label], value);
      const may = of("NetworkPolicy").spec.egress.flatMap(({ ports }) => ports.map(({ port }) => port));
      for (const value of [env.PLIMSOLL_RPC_HOST, ...address.split(",").filter(Boolean)]) {
        assert.ok(may.includes(Number(value.split(":").at(-1))), value);
      }
    });
  }
});

/** The program of the engine of each compose file, and whether it goes on when one of its servers dies. */
const COMPOSED = {
  redis: { program: RedisServer },
  nats: { program: NatsServer },
  jetstream: { program: NatsServer, isCluster: true },
  "redis-cluster": { program: RedisServer, isCluster: true },
};

const engineServices = (services) => Object.entries(services).filter(([name]) => /^(redis|nats)(-\d)?$/.test(name));

describe("the compose files of several servers", () => {
  for (const engine of Object.keys(COMPOSED)) {
    test(`compose.${engine}.yml: three servers that take their settings, where balancer and Prometheus look for them`, async () => {
      const { services } = await manifests("compose", deployPath(`compose.${engine}.yml`));
      const names = ["plimsoll-1", "plimsoll-2", "plimsoll-3"];
      assert.deepEqual(Object.keys(services).filter((name) => name.startsWith("plimsoll")), names);
      for (const name of names) {
        const { command, environment, stop_grace_period } = services[name];
        const settings = await settingsOf(command, environment);
        assert.equal(setting(settings, null, "node_id"), name);
        assert.ok(parseInt(stop_grace_period) > needed(settings), stop_grace_period);
        const [cable, metrics] = ["server", "metrics"].map((section) => setting(settings, section, "port"));
        const [{ static_configs }] = readYaml("prometheus", "cluster.yml").scrape_configs;
        assert.ok(static_configs[0].targets.includes(`${name}:${metrics}`));
        const balancer = readDeploy("haproxy", "haproxy.cfg");
        assert.ok(balancer.includes(`  server ${name} ${name}:${cable}\n`) && balancer.includes(` check port ${metrics} `));
        // The check needs `inter` × `fall`, and then some.
        assert.ok(seconds(settings, "shutdown_delay") >= 2 * 2);
      }
      const asked = [...engineServices(services).map(([name]) => name), "balancer"];
      for (const name of asked) assert.ok(services[name].healthcheck.test, name);
      assert.equal(asked.length - 1, { jetstream: 3, "redis-cluster": 6 }[engine] ?? 1);
      for (const [name, { volumes = [], ports = [] }] of Object.entries(services)) {
        for (const { type, source } of volumes) if (type === "bind") assert.ok(existsSync(source), `${name}: ${source}`);
        for (const { host_ip } of ports) assert.equal(host_ip, "127.0.0.1", name);
      }
      const home = services.grafana.environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
      assert.ok(existsSync(home.replace("/var/lib/grafana", deployPath("grafana"))), home);
    });

    test(`compose.${engine}.yml: clients stay or come back while a server stops, moves, and the engine is away`, (t) =>
      rehearse(t, engine), { timeout: 300_000 });
  }
});

/** The engine, the servers and the balancer of a compose file, without containers, on loopback addresses. */
async function rehearse(t, engine) {
  const { services } = await manifests("compose", deployPath(`compose.${engine}.yml`));
  // What Compose gives a server that delays its end by 5 s and sends its clients away over 10 s.
  const [, graceSeconds] = services["plimsoll-1"].stop_grace_period.match(/^(\d+)s$/);
  const graceMs = 1000 * Number(graceSeconds);
  const store = await startEngine(t, engine, services);
  const hosts = {};
  const [port, metrics, front] = [await freePort(), await freePort(), await freePort()];
  const config = readDeploy("haproxy", "haproxy.cfg")
    .replace("127.0.0.11:53", await startResolver(t, hosts))
    .replace("bind :8080", `bind 127.0.0.1:${front}`)
    .replaceAll(/(server plimsoll-\d \S+):8080/g, `$1:${port}`)
    .replace("check port 9091", `check port ${metrics}`);
  const balancer = await startHaproxy(t, config);
  const url = (path) => `http://127.0.0.1:${front}${path}`;
  const status = async (path) => (await fetch(url(path))).status;
  const answers = async (path, expected) => {
    let last;
    const isExpected = async () => {
      balancer.assertRuns();
      last = await status(path).catch((error) => error.cause ?? error);
      return last === expected;
    };
    await eventually(isExpected, () => `${expected} from the balancer for ${path}; it answered ${last} at last`, PATIENCE_MS);
  };
  await answers("/balancer-health", 200);
  await answers("/", 503);

  const startOne = async (n, host) => {
    const { PLIMSOLL_RPC_HOST: _, PLIMSOLL_HTTP_RPC_SECRET: __, ...variables } = services[`plimsoll-${n}`].environment;
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, store.here(value)]),
    );
    const words = ["--config_path", deployPath("plimsoll.toml"), "--noauth", "--norpc", "--public_streams"];
    const server = await Server.startIn({ env }, ...words, "--host", host, "--port", String(port), "--metrics_port", String(metrics));
    t.after(() => server.isRunning && server.stop(graceMs));
    hosts[`plimsoll-${n}`] = host;
    const figures = () => scrape(`http://${host}:${metrics}/metrics`);
    const isReady = async () => (await fetch(`http://${host}:${metrics}/ready`)).ok;
    return { server, isReady, nClients: async () => (await figures()).clients_num };
  };
  const servers = await Promise.all([1, 2, 3].map((n) => startOne(n, `127.0.0.${n + 1}`)));
  const { PLIMSOLL_BROADCAST_KEY: key } = services["plimsoll-1"].environment;
  const connect = async () => {
    const client = await CableClient.subscribed(`ws://127.0.0.1:${front}/cable`, NEWS, { origin: "http://localhost:3000" });
    t.after(() => client.socket.terminate());
    return client;
  };
  const broadcast = (text) =>
    fetch(url("/_broadcast"), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "idempotency-key": text },
      body: JSON.stringify({ stream: "news", data: JSON.stringify(text) }),
    });
  const assertAllHear = async (clients, text) => {
    for (const client of clients) assert.equal(JSON.parse(await client.frames.next()).message, text);
  };
  const assertHeard = async (clients, text) => {
    assert.equal((await broadcast(text)).status, 201);
    await assertAllHear(clients, text);
  };
  /** While a cluster chooses its leaders, a backend sends its message again. */
  const assertHeardAtLast = async (clients, text) => {
    await eventually(async () => (await broadcast(text)).status === 201, `a confirmation of ${text}`, PATIENCE_MS);
    await assertAllHear(clients, text);
  };

  // All three are taken when connections are spread over all three.
  await answers("/", 200);
  const clients = [];
  await eventually(async () => {
    clients.push(await connect());
    const counts = await Promise.all(servers.map(({ nClients }) => nClients()));
    return Math.min(...counts) >= 2;
  }, "two clients on each server", PATIENCE_MS);
  await assertHeard(clients, "all");
  for (const path of ["/health", "/ready", "/metrics", "/admin"]) assert.equal(await status(path), 404, path);

  // A client that connects while a server stops is served by another one.
  const [first] = servers;
  const stopped = first.server.stop(graceMs);
  let isOver = false;
  void stopped.then(() => (isOver = true));
  while (!isOver) (await connect()).socket.terminate();
  assert.equal((await stopped).code, 0);
  const stayed = [];
  for (const client of clients) {
    if (client.socket.readyState === client.socket.OPEN) stayed.push(client);
    else assert.equal(JSON.parse(await client.frames.next()).reason, "server_restart");
  }
  assert.ok(stayed.length >= 4 && stayed.length < clients.length, `${stayed.length} of ${clients.length}`);
  await assertHeard(stayed, "two");

  // It comes back at another address, and gets clients.
  const moved = await startOne(1, "127.0.0.5");
  await eventually(async () => {
    stayed.push(await connect());
    return (await moved.nClients()) > 0;
  }, "a client of the server that has moved", PATIENCE_MS);
  await assertHeard(stayed, "three");

  const assertAllReady = async () => {
    for (const { isReady } of [moved, servers[1], servers[2]]) await eventually(isReady, "every server to be ready", PATIENCE_MS);
    await answers("/", 200);
    assert.ok(stayed.every(({ socket }) => socket.readyState === socket.OPEN));
  };
  if (COMPOSED[engine].isCluster) {
    const [dead] = store.programs;
    await dead.kill();
    await assertHeardAtLast(stayed, "without one");
    await assertAllReady();
    await dead.resume();
    await assertHeardAtLast(stayed, "with all");
  }

  // Without the engine new clients wait outside, and open sessions stay.
  await Promise.all(store.programs.map((program) => program.kill()));
  await answers("/", 503);
  await Promise.all(store.programs.map((program) => program.resume()));
  await assertAllReady();
  await assertHeardAtLast(stayed, "four");
}

/**
 * The engine of a compose file with its arguments: each server at a loopback address of its own. `here` has those addresses in place
 * of the ones between containers.
 */
async function startEngine(t, engine, services) {
  const [port, routes] = [await freePort(), await freePort()];
  const found = engineServices(services);
  const hosts = {};
  for (const [n, [name, { networks }]] of found.entries()) {
    for (const known of [name, networks.default?.ipv4_address]) if (known) hosts[known] = `127.0.1.${n + 1}`;
  }
  const here = (text) =>
    text.replaceAll(/([\w.-]+):(6379|4222|6222)\b/g, (_, name, given) => `${hosts[name] ?? name}:${given === "6222" ? routes : port}`);
  const programs = found.map(async ([name, { entrypoint, command }]) => {
    const words = [...(entrypoint ?? []), ...command];
    // The port of NATS' monitor may be taken here, and is not asked; its folder is the one of the test.
    const options = words.filter((word) => !/^(redis-server|nats-server|--http_port|8222|--http_port=8222|--jetstream|--store_dir=.*)$/.test(word));
    const local = options.map((word) => here(word.replace("0.0.0.0", hosts[name])));
    // What a container connects from is its address; here it would be 127.0.0.1.
    if (words.includes("--cluster-enabled")) local.push("--cluster-announce-ip", hosts[name]);
    return COMPOSED[engine].program.start(t, { host: hosts[name], port, options: local, jetStream: words.includes("--jetstream") });
  });
  const store = { programs: await Promise.all(programs), here };
  // The container that makes a cluster of the servers.
  for (const { command, environment } of Object.values(services).filter(({ command }) => command?.[0] === "sh")) {
    const [program, ...words] = command.map(here);
    const env = { ...process.env, ...environment };
    // At the second time it has nothing to do.
    for (const expected of [/All 16384 slots covered/, /^$/]) assert.match((await promisify(execFile)(program, words, { env })).stdout, expected);
    for (const redis of store.programs) {
      const client = redis.client(t, { password: environment.REDISCLI_AUTH });
      const isUp = async () => (await client.call("CLUSTER", "INFO")).includes("cluster_state:ok");
      await eventually(isUp, "a node that takes messages", PATIENCE_MS);
    }
  }
  return store;
}

describe("the systemd unit of several servers", () => {
  const unit = readDeploy("systemd", "plimsoll@.service");
  const restart = deployPath("systemd", "plimsoll-restart");

  test("is accepted by systemd, locked up like the unit of one server, and lets a server stop in its own time", async (t) => {
    const folder = folderOf(t, {});
    const path = join(folder, "plimsoll@8081.service");
    writeFileSync(path, unit.replace("/usr/local/bin/plimsoll", process.env.PLIMSOLL_BIN));
    const { stderr } = await promisify(execFile)("systemd-analyze", ["verify", path]);
    assert.equal(stderr, "");
    const lines = (text) => text.split("[Service]")[1].split("\n").filter((line) => !/^(#|ExecStart=|TimeoutStopSec=)/.test(line));
    assert.deepEqual(lines(unit), lines(readDeploy("systemd", "plimsoll.service")));

    const [, words] = /^ExecStart=\S+ (.*)$/m.exec(unit);
    const settings = await settingsOf(words.replaceAll("%i", "8081").replaceAll("%p", "plimsoll").split(" "));
    assert.equal(setting(settings, null, "node_id"), "plimsoll-8081");
    assert.equal(setting(settings, "metrics", "port"), "18081");
    assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)[1]) > needed(settings));
  });

  test("restarts servers one after the other, and stops at one that is not ready", async (t) => {
    const ports = [];
    while (ports.length < 2) {
      const port = 2000 + Math.floor(Math.random() * 7999);
      if (await isFree(10_000 + port)) ports.push(port);
    }
    const [served, silent] = ports;
    const server = await Server.start("--port", `1${served}`);
    t.after(() => server.stop());
    const folder = folderOf(t, { systemctl: '#!/bin/sh\necho "$@" >> "$0.calls"\n', sleep: "#!/bin/sh\n" });
    for (const name of ["systemctl", "sleep"]) chmodSync(join(folder, name), 0o755);
    const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) };
    const run = (...args) => promisify(execFile)("sh", [restart, ...args.map(String)], { env }).catch((error) => error);
    const calls = () => readFileSync(join(folder, "systemctl.calls"), "utf8").trim().split("\n");
    assert.match((await run(served)).stdout, /is ready\n$/);
    const { code, stderr } = await run(silent, served);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`plimsoll@${silent} is not ready`));
    assert.deepEqual(calls(), [`restart plimsoll@${served}`, `restart plimsoll@${silent}`]);
    assert.equal((await run()).code, 2);
  });
});
