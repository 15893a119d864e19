// What `deploy/` has for several servers: alerts and dashboard with each engine and a real Prometheus.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { dashboards, deployPath, metricsOf, questions, readYaml } from "./support/deployment.mjs";
import { NatsServer } from "./support/nats.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { Prometheus } from "./support/prometheus.mjs";
import { RedisServer } from "./support/redis.mjs";

const NEWS = '{"channel":"$pubsub","stream_name":"news"}';

/** A fault of an engine lasts seconds, and a server waits up to 8 s before it tries again. */
const PATIENCE_MS = 60_000;

const ENGINES = {
  "--pubsub redis": { start: (t) => RedisServer.start(t), flags: ({ url }) => ["--pubsub", "redis", "--redis_url", url] },
  "--pubsub nats": { start: (t) => NatsServer.start(t), flags: ({ url }) => ["--pubsub", "nats", "--nats_servers", url] },
  "--broker redis": { start: (t) => RedisServer.start(t), flags: ({ url }) => ["--broker", "redis", "--redis_url", url] },
};

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

      // An engine that keeps nothing on disk: its messages are gone.
      await store.kill();
      const isDeaf = () => prometheus.query('anycable_go_dependency_up{dependency!="server"} == 0');
      await eventually(async () => (await isDeaf()).length >= 2, "both servers to notice", PATIENCE_MS);
      if (engine === "--broker redis") await store.resume();
      const expected = engine === "--broker redis" ? "PlimsollMessagesLost" : "PlimsollMissedMessages";
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
