// Runs a file of tests/foreign/artillery and notes what can be compared: exit code, counters, sample counts, wire.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArtilleryTarget } from "./artillery-target.mjs";

export const FOLDER = new URL("../artillery/", import.meta.url).pathname;

/** The longest that one file may take. */
const PATIENCE_MS = 60_000;

/** Counters that only one of the tools has: ours are additions, bytes depend on header fields. */
const OWN_COUNTERS = [/^vusers\.skipped$/, /^websocket\.untimed$/, /^websocket\.inbox_dropped$/, /^websocket\.messages_received$/];
/** Distributions that only we have. */
const OWN_SUMMARIES = [/lateness$/, /^websocket\./];

const without = (entries, own) => Object.entries(entries ?? {}).filter(([name]) => !own.some((it) => it.test(name)));

/** The first line of a file may be `# flags: …`, for more flags of the command line. */
function flagsOf(file) {
  const flags = /^# flags: (.*)$/m.exec(readFileSync(join(FOLDER, file), "utf8"))?.[1];
  return flags ? JSON.parse(flags) : [];
}

/** A proxy that opens tunnels (CONNECT), or answers with `status`. It notes the requests with their credentials. */
async function startProxy(status) {
  const proxy = createServer();
  const sockets = new Set();
  const tunnels = [];
  proxy.on("connect", (request, socket, head) => {
    tunnels.push(["CONNECT", request.headers["proxy-authorization"]].filter(Boolean).join(" "));
    if (status) return socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    const [host, port] = request.url.split(":");
    const server = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      server.write(head);
      server.pipe(socket);
      socket.pipe(server);
    });
    for (const each of [socket, server]) {
      sockets.add(each);
      each.on("error", () => {});
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    address: `127.0.0.1:${proxy.address().port}`,
    url: `http://127.0.0.1:${proxy.address().port}`,
    wire: () => tunnels,
    stop() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A message without what is in own words: the texts of its header and its duration, the order of lines, blanks, and escapes. */
function messageOf(body) {
  const { text, blocks } = JSON.parse(body);
  const own = (field) => field.replace(/^(\*Duration\*).*/s, "$1").replace("undefined", "0").replace(" / ", "/").replaceAll("&lt;", "<").replaceAll("&gt;", ">");
  const masked = (field) => own(field).split("\n").sort().join("\n");
  const fields = (block) => block.fields.map(({ type, text }) => `${type}: ${masked(text)}`);
  const shown = ({ type, ...block }) => [type, ...(block.fields ? fields(block) : [`${block.text.type} ${[...block.text.text][0]}`])];
  return ["MESSAGE", [...text][0], ...blocks.flatMap(shown)].join("\n");
}

/** Figures that only we push. */
const OWN_FIGURES = /^(vusers_skipped|vusers_lateness_|websocket_)/;

/** The lines of a push, with sorted labels, and without the values of times and rates. */
function figuresOf(body) {
  const lines = [];
  for (const [, family, labels, value] of body.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)) {
    const metric = /metric="(.*?)"/.exec(labels)[1];
    if (OWN_FIGURES.test(metric)) continue;
    const isTold = family.endsWith("_counters") || metric.endsWith("_count");
    lines.push(`${family} ${labels.split(",").sort().join(",")} ${isTold ? value : ""}`.trim());
  }
  const types = [...body.matchAll(/^# TYPE .*$/gm)].map(([line]) => line).sort();
  return [...types, ...lines.sort()].join("\n");
}

/** Messages as they came, and of pushes the last: it has all figures. */
function collected(requests) {
  const pushes = requests.filter(({ path }) => path.includes("/metrics/job/"));
  const messages = requests.filter((request) => !pushes.includes(request));
  const last = pushes.slice(-1).map(({ path, body }) => `${path.replace(/[^/]+$/, "JOB")}\n${figuresOf(body)}`);
  return [...messages.map(({ path, body }) => `${path}\n${messageOf(body)}`), ...last];
}

/** A server that takes the messages and figures of plugins. */
async function startCollector() {
  const collector = createServer();
  const requests = [];
  collector.on("request", async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const credentials = request.headers.authorization ? ` ${request.headers.authorization}` : "";
    requests.push({ path: `${request.method}${credentials} ${request.url}`, body: Buffer.concat(chunks).toString() });
    response.end("ok");
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  return {
    address: `127.0.0.1:${collector.address().port}`,
    wire: () => collected(requests),
    stop() {
      collector.close();
      collector.closeAllConnections();
    },
  };
}

/** The target of this process has read what lay in its sockets: a busy process hears of the end of a program first. */
async function caughtUp() {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

/** Runs `command` with the arguments of `artillery run` in a copy of the folder. */
export async function observe(command, file, env = {}) {
  const target = await ArtilleryTarget.start();
  const text = readFileSync(join(FOLDER, file), "utf8");
  // The line `# proxy` asks for one: in the environment, or where the file says PROXY. `# proxy 407` refuses all tunnels.
  const asked = /^# proxy ?(\d*)$/m.exec(text);
  const proxy = asked ? await startProxy(Number(asked[1])) : undefined;
  // Plugins send to COLLECTOR.
  const collector = text.includes("COLLECTOR") ? await startCollector() : undefined;
  const cwd = mkdtempSync(join(tmpdir(), "artillery-"));
  try {
    cpSync(FOLDER, cwd, { recursive: true });
    const placed = text.replaceAll("PROXY", proxy?.address).replaceAll("COLLECTOR", collector?.address);
    if (placed !== text) writeFileSync(join(cwd, file), placed);
    const url = /engine: ws/.test(readFileSync(join(cwd, file), "utf8")) ? target.url.replace("http", "ws") : target.url;
    const [program, ...args] = command;
    const flags = flagsOf(file).map((flag) => flag.replace("TARGET", url));
    const child = spawn(program, [...args, file, "-t", url, "-o", "report.json", ...flags], {
      cwd,
      env: { ...process.env, ...env, TARGET_URL: url, ...(proxy && !text.includes("PROXY") && { HTTP_PROXY: proxy.url }) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    const [code] = await once(child, "close");
    clearTimeout(timer);
    let aggregate = {};
    try {
      ({ aggregate } = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8")));
    } catch {
      // A file that is refused makes no report.
    }
    const port = new URL(target.url).port;
    await caughtUp();
    const wire = [...(proxy?.wire() ?? []), ...(collector?.wire() ?? []), ...target.wire()];
    // The length of a form with files depends on its boundary, and so does the echo of it.
    if (wire.some((line) => line.includes("BOUNDARY"))) delete aggregate.counters?.["http.downloaded_bytes"];
    const counters = Object.fromEntries(
      without(aggregate.counters, OWN_COUNTERS)
        .map(([name, n]) => [name.replaceAll(port, "PORT"), n])
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
    const samples = Object.fromEntries(
      without(aggregate.summaries, OWN_SUMMARIES)
        .map(([name, { count }]) => [name, count])
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
    return { found: { code, counters, samples, wire }, output };
  } finally {
    proxy?.stop();
    collector?.stop();
    await target.stop();
    rmSync(cwd, { recursive: true, force: true });
  }
}
