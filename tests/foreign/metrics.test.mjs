// Monitoring of a server: with a real Prometheus, over StatsD, in its log, and by health checks.

import assert from "node:assert/strict";
import dgram from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { Prometheus, promtoolFindings } from "./support/prometheus.mjs";
import { RedisServer } from "./support/redis.mjs";
import { RawSocket, upgradeRequest } from "./support/raw.mjs";
import { eventuallyCounts, scrape, typesOf } from "./support/scrape.mjs";

const METRICS = ["--metrics_http", "/metrics", "--stats_refresh_interval", "1"];
const ROOM = JSON.stringify({ channel: "ChatChannel", id: "demo" });

async function start(t, ...args) {
  const server = await Server.start("--broadcast_key", "secret", ...METRICS, ...args);
  t.after(() => server.isRunning && server.stop());
  return server;
}

async function chatter(t, server, uid, { subscribes = true } = {}) {
  const client = await CableClient.connect(server.ws("/cable"), { headers: { cookie: `uid=${uid}` } });
  t.after(() => client.socket.terminate());
  assert.match(await client.frames.next(), /welcome/);
  if (subscribes) assert.match(await client.subscribe(ROOM), /confirm_subscription/);
  return client;
}

describe("Prometheus", () => {
  test("a real one scrapes the server, with its tags, and sees clients come and go", async (t) => {
    const server = await start(t, "--app", "chat", "--metrics_tags", 'env:test "1",region:eu');
    const prometheus = await Prometheus.start(t, server.address);
    await prometheus.eventuallyIs("up", 1);
    await prometheus.eventuallyIs("anycable_go_clients_num", 0);
    const client = await chatter(t, server, "kay/1");
    const { metric } = await prometheus.eventuallyIs("anycable_go_clients_num", 1);
    assert.deepEqual([metric.env, metric.region], ['test "1"', "eu"]);
    await client.close();
    await prometheus.eventuallyIs("anycable_go_clients_num", 0);
    await prometheus.eventuallyIs("anycable_go_client_msg_total", 1);
    const [lag] = await prometheus.query("histogram_quantile(0.5, anycable_go_event_loop_lag_seconds_bucket)");
    assert.ok(Number(lag.value[1]) > 0, JSON.stringify(lag));
  });

  test("the process has the metrics of every program, under their usual names", async (t) => {
    const before = Date.now() / 1000;
    const server = await start(t);
    const url = server.http("/metrics");
    const samples = await scrape(url);
    assert.ok(samples.process_cpu_seconds_total >= 0);
    assert.ok(Math.abs(samples.process_start_time_seconds - before) < 60, samples.process_start_time_seconds);
    assert.ok(samples.process_resident_memory_bytes > 1_000_000);
    assert.ok(samples.process_max_fds >= samples.process_open_fds);
    await chatter(t, server, "kay/1", { subscribes: false });
    const { process_open_fds } = await scrape(url);
    assert.ok(process_open_fds > samples.process_open_fds, `${process_open_fds}`);
  });

  test("promtool has nothing to say about a scrape", async (t) => {
    const server = await start(t);
    const response = await fetch(server.http("/metrics"));
    assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert.deepEqual(await promtoolFindings(await response.text()), []);
  });
});

describe("counts", () => {
  test("messages, clients, streams and refusals are what happened", async (t) => {
    const server = await start(t, "--app", "chat", "--shards", "2");
    const url = server.http("/metrics");
    const kay = await chatter(t, server, "kay/1");
    await chatter(t, server, "kay/1");
    const bo = await chatter(t, server, "bo/2");
    const stranger = await CableClient.connect(server.ws("/cable"));
    await within(stranger.closed, "the stranger's end");
    // Welcomes and confirmations of three, and the stranger's disconnect.
    let counts = { clients_num: 3, clients_uniq_num: 2, broadcast_streams_num: 1, failed_auths_total: 1 };
    await eventuallyCounts(url, { ...counts, client_msg_total: 3, server_msg_total: 7 });

    await server.broadcast({ stream: "chat_demo", data: '{"a":1}' });
    for (const client of [kay, bo]) assert.equal(JSON.parse(await client.frames.next()).message.a, 1);
    await eventuallyCounts(url, { ...counts, client_msg_total: 3, server_msg_total: 10, failed_client_msg_total: 0 });

    bo.send("this is not JSON");
    await within(bo.closed, "the end of who sends no JSON");
    const after = await eventuallyCounts(url, { clients_num: 2, client_msg_total: 3, failed_client_msg_total: 1 });
    assert.ok(after.data_rcvd_total > 0 && after.data_sent_total > 0);
    assert.ok(after.mem_sys_bytes > 1_000_000);
    // Both clients, and the scrape's own.
    assert.ok(after.goroutines_num >= 3, `${after.goroutines_num}`);

    const raw = await RawSocket.connect(server.port);
    raw.write("nonsense\r\n\r\n");
    await within(raw.closed, "the end of nonsense");
    await eventuallyCounts(url, { 'refused_connections_total{reason="malformed"}': 1 });
  });

  test("a client that does not read is seen blocked, then ended", async (t) => {
    const server = await start(t, "--app", "chat", "--ws_max_pending_size", "4000000", "--ping_interval", "60");
    const url = server.http("/metrics");
    const client = await chatter(t, server, "kay/1");
    client.socket.pause();
    const body = { stream: "chat_demo", data: JSON.stringify("x".repeat(500_000)) };
    const isBlocked = async () => {
      await server.broadcast(body);
      return (await scrape(url)).blocked_clients_num === 1;
    };
    await eventually(isBlocked, "a blocked client");
    await eventually(async () => (await scrape(url)).pending_bytes > 0, "pending bytes");
    const isEnded = async () => {
      await server.broadcast(body);
      return (await scrape(url)).disconnected_slow_clients_total === 1;
    };
    await eventually(isEnded, "the slow client's end");
    const after = await scrape(url);
    assert.ok(after.failed_server_msg_total > 0, `${after.failed_server_msg_total}`);
  });

  test("metrics and health are answered when there is no room for clients", async (t) => {
    const server = await start(t, "--app", "chat", "--max-conn", "2");
    for (const uid of ["kay/1", "bo/2"]) await chatter(t, server, uid, { subscribes: false });
    const raw = await RawSocket.connect(server.port);
    raw.write(upgradeRequest("/cable"));
    assert.match(await raw.head(), /^HTTP\/1\.1 503 /);
    assert.equal((await fetch(server.http("/health"))).status, 200);
    await eventuallyCounts(server.http("/metrics"), { 'refused_connections_total{reason="overload"}': 1 });
  });
});

describe("where metrics are", () => {
  test("nowhere, unless they are asked for", async (t) => {
    const server = await Server.start("--broadcast_key", "secret");
    t.after(() => server.stop());
    assert.equal((await fetch(server.http("/metrics"))).status, 404);
  });

  test("on a port of their own: there with the health, and not for clients", async (t) => {
    const server = await start(t, "--metrics_port", "0");
    const [, url] = await server.logged(/Metrics are served on (http:\S+\/)metrics/);
    assert.equal((await fetch(server.http("/metrics"))).status, 404);
    for (const [path, status] of [
      ["metrics", 200],
      ["health", 200],
      ["ready", 200],
      ["", 404],
      ["cable", 404],
      ["_broadcast", 404],
    ]) {
      assert.equal((await fetch(url + path)).status, status, path);
    }
    const raw = await RawSocket.connect(Number(new URL(url).port));
    raw.write(upgradeRequest("/cable"));
    assert.match(await raw.head(), /^HTTP\/1\.1 404 /);
  });

  test("all that AnyCable's Grafana dashboard asks for is there, but for Go's memory", async (t) => {
    const server = await start(t, "--rpc_host", "127.0.0.1:1");
    const samples = await scrape(server.http("/metrics"));
    // Named in etc/grafana/dashboards/anycable.json of AnyCable.
    const names = `clients_num clients_uniq_num broadcast_streams_num disconnect_queue_size client_msg_total
      failed_client_msg_total server_msg_total failed_server_msg_total timeout_server_msg_total data_sent_total
      data_rcvd_total publications_total failed_broadcast_msg_total broadcast_msg_total remote_commands_total
      rpc_call_total rpc_retries_total rpc_error_total rpc_timeout_total rpc_canceled_total rpc_pending_num
      rpc_capacity_num grpc_active_conn_num failed_auths_total disconnected_slow_clients_total mem_sys_bytes goroutines_num`;
    assert.deepEqual(names.split(/\s+/).filter((name) => !(name in samples)), []);
  });

  test("the reference page has every metric, with its type, and no other", async (t) => {
    const server = await start(t, "--rpc_host", "127.0.0.1:1", "--broker", "memory", "--presence_webhook", "http://127.0.0.1:1/");
    const page = readFileSync(new URL("../../docs/reference/metrics.md", import.meta.url), "utf8");
    const rows = page.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \|/gm);
    const documented = Object.fromEntries([...rows].map(([, name, type]) => [name, type]));
    // A broker and an engine exclude each other. Their Redis need not be there.
    const redis = ["--redis_url", "redis://127.0.0.1:1"];
    const node = await start(t, "--norpc", "--pubsub", "redis", ...redis);
    const other = await start(t, "--app", "chat", "--broker", "redis", ...redis);
    const texts = await Promise.all([server, node, other].map(async (it) => (await fetch(it.http("/metrics"))).text()));
    assert.deepEqual(documented, Object.assign({}, ...texts.map(typesOf)));
  });
});

describe("StatsD", () => {
  /** A socket that collects packets; `packets` is an inbox of texts. */
  async function listen(t) {
    const socket = dgram.createSocket("udp4");
    const packets = new Inbox("StatsD packets");
    socket.on("message", (packet) => packets.push(packet.toString()));
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    t.after(() => socket.close());
    return { packets, host: `127.0.0.1:${socket.address().port}` };
  }

  for (const [format, line] of [
    [[], /^anycable_go\.clients_num:1\|g\|#env:prod$/m],
    [["--statsd_tags_format", "datadog"], /^anycable_go\.clients_num:1\|g\|#env:prod$/m],
    [["--statsd_tags_format", "influxdb"], /^anycable_go\.clients_num,env=prod:1\|g$/m],
    [["--statsd_tags_format", "graphite"], /^anycable_go\.clients_num;env=prod:1\|g$/m],
  ]) {
    test(`gets gauges, and counters as increases; ${format.join(" ") || "without a format"}`, async (t) => {
      const { packets, host } = await listen(t);
      const flags = ["--statsd_host", host, "--metrics_rotate_interval", "1", "--statsd_max_packet_size", "200"];
      const server = await start(t, "--app", "chat", "--metrics_tags", "env:prod", ...flags, ...format);
      await chatter(t, server, "kay/1");
      const seen = [];
      await packets.until((packet) => {
        seen.push(packet);
        return line.test(packet);
      });
      assert.ok(seen.every((packet) => packet.length <= 200), "a packet is too long");
      // Once and never again: it did not grow any more.
      await packets.until((packet) => seen.push(packet) && /clients_num/.test(packet));
      const told = seen.join("\n").match(/^anycable_go\.client_msg_total[^:]*:(\d+)\|c/gm);
      assert.equal(told.length, 1, told.join());
    });
  }

  test("that cannot be found is tried again in every interval, and the log says so once", async (t) => {
    const flags = ["--statsd_host", "no-such-host.invalid:8125", "--metrics_log", "--metrics_rotate_interval", "1"];
    const server = await start(t, ...flags);
    await eventually(() => server.stderr.match(/Metrics: /g)?.length >= 3, "three reports in the log");
    assert.equal(server.stderr.match(/Cannot send metrics to StatsD/g)?.length, 1, server.stderr);
  });
});

describe("the log", () => {
  test("tells the chosen metrics in every interval", async (t) => {
    const flags = ["--metrics_log", "--metrics_rotate_interval", "1", "--metrics_log_filter", "clients_num,client_msg_total"];
    const server = await start(t, "--app", "chat", ...flags);
    await chatter(t, server, "kay/1");
    await eventually(() => /Metrics: client_msg_total=1 clients_num=1$/m.test(server.stderr), "a client in the log");
    await eventually(() => /Metrics: client_msg_total=0 clients_num=1$/m.test(server.stderr), "an interval without messages");
  });

  test("is one JSON object per line with --log_format json", async (t) => {
    const server = await start(t, "--log_format", "json");
    await server.stop();
    const lines = server.stderr.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.ok(lines.every(({ timestamp, level, message }) => !isNaN(Date.parse(timestamp)) && level && message));
    const started = lines.find(({ message }) => message.startsWith("Plimsoll "));
    assert.deepEqual([started.level, started.pid], ["INFO", server.pid]);
  });
});

describe("health", () => {
  test("short by default, and with the details for who accepts JSON", async (t) => {
    const server = await start(t);
    const short = await fetch(server.http("/health"));
    assert.deepEqual([short.status, await short.text()], [200, "OK\n"]);
    const long = await fetch(server.http("/health"), { headers: { accept: "application/json" } });
    assert.equal(long.status, 200);
    const { alive, ready, dependencies } = await long.json();
    assert.deepEqual([alive, ready, dependencies.map(({ name }) => name)], [true, true, ["server"]]);
  });

  test("a Redis that goes away makes the server not ready, and not dead", async (t) => {
    const redis = await RedisServer.start(t);
    const server = await start(t, "--broadcast_adapter", "http,redis", "--redis_url", redis.url);
    const is = (status) => async () => {
      const response = await fetch(server.http("/ready"));
      return response.status === status && (await response.json()).dependencies.find(({ name }) => name === "redis");
    };
    assert.equal((await eventually(is(200), "the server to be ready")).up, true);
    const { cluster } = await (await fetch(server.http("/ready"))).json();
    assert.equal(cluster, undefined, "an adapter makes no cluster");
    await redis.kill();
    const { up, reason } = await eventually(is(503), "the server to miss Redis");
    assert.equal(up, false);
    assert.ok(reason.length > 0);
    assert.equal((await scrape(server.http("/metrics")))['dependency_up{dependency="redis"}'], 0);
    assert.equal((await fetch(server.http("/health"))).status, 200);
    await redis.resume();
    await eventually(is(200), "the server to be ready again");
  });

  test("an application that takes calls and answers none makes the server not ready until its next answer", async (t) => {
    let hangs = false;
    const app = await GrpcApp.start({ Command: () => (hangs ? new Promise(() => {}) : { status: "SUCCESS" }) });
    const server = await start(t, "--rpc_host", app.host, "--rpc_command_timeout", "500");
    t.after(() => app.kill());
    const client = await CableClient.connect(server.ws("/cable"));
    t.after(() => client.close());
    await client.frames.next();
    const is = (status) => async () => {
      client.send({ command: "subscribe", identifier: `{"channel":"C","n":${Math.random()}}` });
      const response = await fetch(server.http("/ready"));
      return response.status === status && (await response.json()).dependencies.find(({ name }) => name === "rpc");
    };
    assert.equal((await eventually(is(200), "the server to be ready")).up, true);
    hangs = true;
    const { up, reason } = await eventually(is(503), "the server to miss the application");
    assert.equal(up, false);
    assert.match(reason, /^no call was answered for \d+ s$/);
    assert.equal((await fetch(server.http("/health"))).status, 200);
    hangs = false;
    await eventually(is(200), "the server to be ready again");
  });

  test("with --shutdown_delay the server says first that it goes, and serves until then", async (t) => {
    const server = await start(t, "--app", "chat", "--shutdown_delay", "2");
    assert.equal((await fetch(server.http("/ready"))).status, 200);
    const kay = await chatter(t, server, "kay/1");
    const stopped = server.stop();
    const goes = async () => {
      const response = await fetch(server.http("/ready"));
      return response.status === 503 && response.json();
    };
    const { ready, dependencies } = await eventually(goes, "the server to be not ready");
    assert.equal(ready, false);
    assert.deepEqual(dependencies, [
      { name: "server", up: false, reason: "stopping because of SIGTERM", for_s: dependencies[0].for_s },
    ]);
    assert.equal((await fetch(server.http("/health"))).status, 200);
    const bo = await chatter(t, server, "bo/2");
    for (const client of [kay, bo]) assert.match(await client.frames.next(), /server_restart/);
    const { code, tookMs } = await stopped;
    assert.equal(code, 0);
    assert.ok(tookMs >= 2000, `${tookMs} ms`);
  });

  test("a second signal ends the server at once", async (t) => {
    const server = await start(t, "--shutdown_delay", "60");
    const stopped = server.stop();
    await server.logged(/Stopping because of SIGTERM/);
    process.kill(server.pid, "SIGINT");
    // A server that waits for the delay is not gone in time for `stop`.
    assert.equal((await stopped).code, 1);
    await server.logged(/second signal, SIGINT/);
  });
});
