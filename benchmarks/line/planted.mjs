// Whether `plimsoll line` finds limits that are known, because the target enforces them.
//
//     node benchmarks/line/planted.mjs [SEARCHES] [LIMIT…]      default: 10 searches for each limit
//
// PLIMSOLL_BIN names the program (default: target/release/plimsoll), RESULTS a file to which each search is appended as a
// line of JSON. With BUSY=1 an endless loop takes one core beside every search. AT_ONCE says how many searches run at the
// same time (default 1).
//
// A truth is a range if the target cannot be sharper: a queue falls behind from 100/s on, and needs some load above that
// to exceed an objective within a step. A found interval is right if it meets that range; anything else than `found` is
// inconclusive. The exit code is 1 if an interval was wrong or wider than ±5 %.

import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { WebSocketServer } = createRequire(new URL("../../tests/foreign/", import.meta.url))("ws");
const program = process.env.PLIMSOLL_BIN ?? "target/release/plimsoll";
const WIDEST = 0.05;

const GET = `
import http from "k6/http";
import { sleep } from "k6";
export const options = { scenarios: { load: SCENARIO } };
export default function () {
  if (http.get(__ENV.URL).status !== 200) { sleep(0.2); throw new Error("refused"); }
}`;

const SOCKET = `
import ws from "k6/ws";
import { sleep } from "k6";
export const options = { scenarios: { load: { executor: "constant-vus", vus: 1, duration: "1m", gracefulStop: "0s" } } };
export default function () {
  let isOpen = false;
  ws.connect(__ENV.URL.replace("http", "ws"), null, (socket) => {
    socket.on("open", () => { isOpen = true; socket.send("hi"); });
    socket.on("message", () => socket.setTimeout(() => socket.send("hi"), 100));
    socket.on("error", () => {});
  });
  if (!isOpen) { sleep(0.2); throw new Error("refused"); }
}`;

const users = '{ executor: "constant-vus", vus: 1, duration: "1m", gracefulStop: "0s" }';
const rate = '{ executor: "constant-arrival-rate", rate: 1, duration: "1m", preAllocatedVUs: 50, maxVUs: 2000, gracefulStop: "0s" }';

/** Answers with `status`, `ms` after now. */
const answer = (response, ms, status = 200) => setTimeout(() => response.writeHead(status).end(), ms);

const LIMITS = {
  /** A bucket of four tokens, refilled with 200 per second; 1 % of the answers may be refusals. */
  rate: {
    truth: [200, 204],
    script: GET.replace("SCENARIO", rate),
    flags: ["--slo", "http_req_failed rate<0.01", "--start", "50"],
    target() {
      let tokens = 4;
      let filled = performance.now();
      return createServer((_, response) => {
        const now = performance.now();
        tokens = Math.min(4, tokens + ((now - filled) / 1000) * 200);
        filled = now;
        if (tokens < 1) return answer(response, 0, 503);
        tokens -= 1;
        answer(response, 0);
      });
    },
  },
  /** 30 requests at a time, 100 ms each; more are refused. */
  users: {
    truth: [30, 30],
    script: GET.replace("SCENARIO", users),
    flags: ["--slo", "errors==0", "--start", "5"],
    target() {
      let open = 0;
      return createServer((_, response) => {
        if (open >= 30) return answer(response, 0, 503);
        open += 1;
        response.once("close", () => (open -= 1));
        answer(response, 100);
      });
    },
  },
  /** 50 sockets; more are refused. */
  sockets: {
    truth: [50, 50],
    script: SOCKET,
    flags: ["--slo", "errors==0", "--start", "5"],
    target() {
      const sockets = new WebSocketServer({ noServer: true });
      let open = 0;
      return createServer().on("upgrade", (request, socket, head) => {
        socket.on("error", () => {});
        if (open >= 50) return socket.end("HTTP/1.1 503 Full\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        open += 1;
        socket.once("close", () => (open -= 1));
        sockets.handleUpgrade(request, socket, head, (peer) => {
          peer.on("error", () => {});
          peer.on("message", (data) => peer.send(data, { binary: false }));
        });
      });
    },
  },
  /** One worker that takes 10 ms for each request, first come, first served. */
  queue: {
    truth: [100, 106],
    script: GET.replace("SCENARIO", rate),
    flags: ["--slo", "http_req_duration p(95)<200", "--start", "20"],
    target() {
      let free = 0;
      return createServer((_, response) => {
        free = Math.max(free, performance.now()) + 10;
        answer(response, free - performance.now());
      });
    },
  },
};

/** One search; returns its line for RESULTS. */
async function search(name) {
  const { truth, script, flags, target } = LIMITS[name];
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-line-"));
  const server = target().listen(0, "127.0.0.1");
  await once(server, "listening");
  writeFileSync(join(folder, "load.js"), script);
  const url = `http://127.0.0.1:${server.address().port}/`;
  const fixed = ["--step-duration", "3s", "--warm-up", "1s", "--no-save", "-q", "--report", "line.json"];
  const child = spawn(program, ["line", "load.js", "-e", `URL=${url}`, ...flags, ...fixed], { cwd: folder });
  let said = "";
  child.stdout.on("data", (text) => (said += text));
  child.stderr.on("data", (text) => (said += text));
  const [code] = await once(child, "close");
  server.close();
  server.closeAllConnections();
  let report;
  try {
    report = JSON.parse(readFileSync(join(folder, "line.json"), "utf8"));
  } catch {
    throw new Error(`no report of the search for ${name}: ${said}`);
  }
  rmSync(folder, { recursive: true });
  const { end, interval, sentence } = report.result;
  const isFound = end === "found";
  const isRight = !isFound || (interval.low <= truth[1] && truth[0] <= interval.high && interval.within <= WIDEST);
  return { limit: name, truth, end, interval, isFound, isRight, code, sentence, steps: report.steps?.length };
}

/**
 * An endless loop; returns its process id. The shell between ends at once, so that the loop is no child of this process:
 * this one is the target, and the CPU of a target's children counts as the target's.
 */
function startBusyLoop() {
  const command = `exec -a busy-loop "$0" -e 'for(;;);' > /dev/null 2>&1 & echo $!`;
  return Number(execFileSync("bash", ["-c", command, process.execPath], { encoding: "utf8" }));
}

const [count = "10", ...names] = process.argv.slice(2);
const results = [];
const plan = (names.length ? names : Object.keys(LIMITS)).flatMap((name) => Array(Number(count)).fill(name));
const busy = process.env.BUSY === "1" ? startBusyLoop() : null;
try {
  const lane = async () => {
    for (let name = plan.shift(); name !== undefined; name = plan.shift()) {
      const line = await search(name);
      results.push(line);
      if (process.env.RESULTS) appendFileSync(process.env.RESULTS, `${JSON.stringify(line)}\n`);
      console.log(`${line.limit} (${line.truth}): ${line.isRight ? "" : "WRONG: "}${line.sentence}`);
    }
  };
  await Promise.all(Array.from({ length: Number(process.env.AT_ONCE ?? 1) }, lane));
} finally {
  if (busy) process.kill(busy, "SIGKILL");
}
const of = (name) => results.filter(({ limit }) => limit === name);
console.table(
  Object.fromEntries(
    Object.keys(LIMITS).map((name) => [
      name,
      {
        searches: of(name).length,
        found: of(name).filter(({ isFound }) => isFound).length,
        wrong: of(name).filter(({ isRight }) => !isRight).length,
      },
    ]),
  ),
);
process.exitCode = results.every(({ isRight }) => isRight) ? 0 : 1;
