// A signal ends a bench in good order: its result, its report and its entry in the history are there.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { within } from "./support/deadline.mjs";
import { Server, plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

const CABLE = ["--server-type", "actioncable"];
const ENDLESS = ["--step-size", "5", "--sample-size", "1000000", "--total-steps", "1"];

let server;
before(async () => (server = await Server.start("--app", "benchmark")));
after(() => server.stop());

/** An HTTP server: `{ url, n }`, where `n()` is how many requests it has seen. */
async function listen(t, answer) {
  let n = 0;
  const http = createServer((request, response) => {
    n++;
    answer(request, response);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  t.after(() => {
    http.close();
    http.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${http.address().port}/`, n: () => n };
}

/** A bench that goes on, in a folder with runs of its own. */
class Bench {
  stdout = "";
  stderr = "";

  static start(t, ...args) {
    const bench = new Bench();
    const folder = folderOf(t, {});
    bench.surroundings = { cwd: folder, env: { PLIMSOLL_DATA_DIR: join(folder, "data") } };
    bench.child = startPlimsollIn(bench.surroundings, "bench", ...args, "--report", "a.json");
    t.after(() => bench.child.kill("SIGKILL"));
    bench.closed = once(bench.child, "close");
    for (const name of ["stdout", "stderr"]) {
      bench.child[name].setEncoding("utf8").on("data", (text) => (bench[name] += text));
    }
    return bench;
  }

  said(pattern) {
    return eventually(() => pattern.exec(this.stdout + this.stderr), `${pattern}, not: ${this.stdout}${this.stderr}`);
  }

  /** How it ended: `{ code, summary, kept }`, the last one the names of runs in the history. */
  async end() {
    const [code, signal] = await within(this.closed, `the end of the bench, which said: ${this.stderr}`);
    assert.equal(signal, null);
    const summary = JSON.parse(readFileSync(join(this.surroundings.cwd, "a.json"), "utf8"));
    const list = await plimsollIn(this.surroundings, "runs", "list", "--format", "json");
    return { code, summary, kept: JSON.parse(list.stdout).map(({ name }) => name) };
  }
}

/** Each bench with its first sign of life, and what its result begins with. */
const BENCHES = {
  broadcast: async (t) => {
    const bench = Bench.start(t, "broadcast", server.ws("/cable"), ...CABLE, ...ENDLESS);
    await bench.said(/sending 1000000 messages, 5 clients/);
    return { bench, result: /^clients: +5 .*\n.*last delivery .*\n.* 0 lost/ };
  },
  connect: async (t) => {
    const flags = ["--server-type", "actioncable-connect", "--step-size", "5", "--steps-delay", "3600"];
    const bench = Bench.start(t, "connect", server.ws("/cable"), ...flags);
    await bench.said(/clients: +5 /);
    return { bench, result: /^clients: +5 / };
  },
  echo: async (t) => {
    const bench = Bench.start(t, "echo", server.ws("/cable"), ...CABLE, ...ENDLESS);
    await bench.said(/sending 1000000 messages, 5 clients/);
    return { bench, result: /^clients: +5 .*\n.*round trip .*\n.* sent, 0 unanswered/ };
  },
  http: async (t) => {
    const http = await listen(t, (_request, response) => response.end("hello"));
    const bench = Bench.start(t, "http", "-k", "-c", "2", "--duration", "1h", http.url);
    await eventually(() => http.n() > 10, "ten requests");
    return { bench, result: /^Complete requests: +\d+\nFailed requests: +0$/m };
  },
};

describe("a signal ends a bench in good order: 105", { concurrency: false }, () => {
  for (const [name, begin] of Object.entries(BENCHES)) {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      test(`${signal}: ${name}`, async (t) => {
        const { bench, result } = await begin(t);
        bench.child.kill(signal);
        const { code, summary, kept } = await bench.end();
        assert.equal(code, 105, bench.stderr);
        assert.match(bench.stdout, result);
        assert.match(bench.stderr, /^error: the run was interrupted by a signal(;|$)/m);
        assert.equal(kept.length, 1);
        assert.ok(kept[0].startsWith(`bench ${name} `), kept[0]);
        assert.equal(summary.end.cause, "shutdown");
      });
    }
  }
});

describe("a second signal ends a bench at once: 105", { concurrency: false }, () => {
  test("which waits for answers to broadcasts", async (t) => {
    const silent = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    let n = 0;
    silent.on("connection", (client) => client.on("message", () => n++));
    await once(silent, "listening");
    t.after(() => {
      silent.clients.forEach((client) => client.terminate());
      silent.close();
    });
    const url = `ws://127.0.0.1:${silent.address().port}/`;
    const waits = ["--wait-broadcasts", "3600", "--answer-timeout", "3600"];
    const bench = Bench.start(t, "broadcast", url, ...ENDLESS, ...waits);
    await eventually(() => n === 4, "four broadcasts");
    // Two signals of one kind may arrive as one.
    bench.child.kill("SIGINT");
    bench.child.kill("SIGTERM");
    const { code, summary } = await bench.end();
    assert.equal(code, 105, bench.stderr);
    assert.match(bench.stdout, /^clients: +5 .*\n(.*\n)?.* 4 sent, 4 unacknowledged/);
    assert.equal(summary.iterations.failed, 4);
  });

  test("which waits for responses", async (t) => {
    const http = await listen(t, () => {});
    const bench = Bench.start(t, "http", "-c", "2", "--duration", "1h", "-s", "3600", http.url);
    await eventually(() => http.n() === 2, "two requests");
    bench.child.kill("SIGHUP");
    bench.child.kill("SIGTERM");
    const { code, summary } = await bench.end();
    assert.equal(code, 105, bench.stderr);
    assert.match(bench.stdout, /^Complete requests: +0$/m);
    assert.equal(summary.iterations.interrupted, 2);
  });
});
