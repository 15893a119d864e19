// A real NATS server of a test's own, which the test may kill, and a peer that speaks its protocol over a bare socket.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { within } from "./deadline.mjs";
import { Inbox } from "./inbox.mjs";
import { freePort } from "./ports.mjs";
import { eventually } from "./processes.mjs";
import { Tunnel } from "./tunnel.mjs";

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export class NatsServer {
  #host;
  #port;
  #monitor;
  #options;
  #folder;
  #forgets;
  #child;

  /**
   * Ends with the test. `jetStream`: it keeps streams in a folder of its own, which it loses with each death if it `forgets`.
   * `settings` are lines of a settings file. `host` is an address of this machine.
   */
  static async start(t, { host = "127.0.0.1", port, options = [], settings, jetStream = false, forgets = false } = {}) {
    const server = new NatsServer();
    server.#host = host;
    server.#port = port ?? (await freePort());
    server.#monitor = await freePort();
    server.#options = options;
    server.#forgets = forgets;
    server.#folder = mkdtempSync(join(tmpdir(), "plimsoll-nats-"));
    if (jetStream) server.enableJetStream();
    if (settings) {
      const file = join(server.#folder, "nats.conf");
      writeFileSync(file, `${settings}\n`);
      server.#options = [...server.#options, "--config", file];
    }
    t.after(async () => {
      await server.kill();
      rmSync(server.#folder, { recursive: true, force: true });
    });
    await server.resume();
    return server;
  }

  /** From its next start on it has JetStream. */
  enableJetStream() {
    this.#options = [...this.#options, "--jetstream", "--store_dir", join(this.#folder, "store")];
  }

  get pid() {
    return this.#child.pid;
  }

  get url() {
    return `nats://${this.address}`;
  }

  get address() {
    return `${this.#host}:${this.#port}`;
  }

  /** Starts again what was killed. */
  async resume() {
    if (this.#forgets) rmSync(join(this.#folder, "store"), { recursive: true, force: true });
    const monitor = this.#options.includes("--http_port") ? [] : ["--http_port", String(this.#monitor)];
    const args = ["--addr", this.#host, "--port", String(this.#port), ...monitor, ...this.#options];
    const child = spawn("nats-server", args, { stdio: ["ignore", "inherit", "pipe"] });
    this.#child = child;
    running.add(child);
    child.exited = once(child, "exit").then(() => running.delete(child));
    const ready = new Promise((resolve) => {
      createInterface({ input: child.stderr }).on("line", (line) => {
        if (line.includes("Server is ready")) resolve();
      });
    });
    const failed = child.exited.then(() => {
      throw new Error("nats-server did not start");
    });
    await within(Promise.race([ready, failed]), "nats-server");
    failed.catch(() => {});
  }

  /** As a power failure would do it. */
  kill() {
    this.#child.kill("SIGKILL");
    return this.#child.exited;
  }

  signal(name) {
    this.#child.kill(name);
  }

  /** The settings of all streams of JetStream. */
  async streams() {
    const { account_details } = await (await fetch(`http://127.0.0.1:${this.#monitor}/jsz?streams=true&config=true`)).json();
    const streams = (account_details ?? []).flatMap(({ stream_detail }) => stream_detail ?? []).map(({ config }) => config);
    return streams.toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** What the server knows of its connections. */
  async connections() {
    return (await (await fetch(`http://127.0.0.1:${this.#monitor}/connz`)).json()).connections;
  }

  /** A peer that hears all subjects and can publish; it ends with the test. */
  peer(t) {
    return NatsPeer.connect(t, this.#port);
  }
}

/** A NATS server with JetStream behind a tunnel that can be shut. */
export async function startNatsBehindTunnel(t, options) {
  const nats = await NatsServer.start(t, { jetStream: true, ...options });
  nats.tunnel = await Tunnel.to(t, Number(nats.address.split(":")[1]));
  return nats;
}

/** Makes a function that cuts all connections through the tunnel. */
export const cutTunnel = (_t, nats) => () => {
  nats.tunnel.shut();
  nats.tunnel.open();
};

/** The flags of servers that share this NATS as their broker. */
export const inJetStream = (nats) => ["--broker", "nats", "--nats_servers", nats.tunnel?.address ?? nats.url];

/** The same for a cluster of three NATS servers, of which each has a copy. */
export const inJetStreamCluster = (servers) => [
  ...["--broker", "nats", "--nats_replicas", "3", "--nats_servers", servers.map(({ url }) => url).join(",")],
];

const NOTHING = [null, null];

/** NO MESSAGE FOUND, and the answer to requests before there is a stream. */
const ABSENT = [10037, 10059];

/** What `plimsoll.s.SID` last said: `STATE OWNER SINCE AFTER GUARD_BYTES` in a header, and guard and content behind it. */
function ownerAndContent({ message, error }) {
  if (error) {
    assert.ok(ABSENT.includes(error.err_code), JSON.stringify(error));
    return NOTHING;
  }
  const text = (base64 = "") => Buffer.from(base64, "base64").toString();
  const [, state, owner] = text(message.hdrs).match(/^Plimsoll-Record: (\S+) (\S+)/m);
  return state === "removed" ? NOTHING : [{ held: owner, left: "", taken: "-" }[state], text(message.data)];
}

/** Makes a function that finds the owner (empty: it waits; "-": it was taken) and the content of a session, or two nulls. */
export async function sessionsIn(t, nats) {
  const admin = await nats.peer(t);
  return async (sid) => {
    const wanted = JSON.stringify({ last_by_subj: `plimsoll.s.${sid}` });
    return ownerAndContent(JSON.parse(await admin.request("$JS.API.STREAM.MSG.GET.plimsoll-sessions", wanted)));
  };
}

/** Three NATS servers that know each other, as soon as they do. */
export async function startNatsCluster(t, options = {}) {
  const ports = await Promise.all([0, 1, 2].map(freePort));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(",");
  const monitors = await Promise.all([0, 1, 2].map(freePort));
  const servers = await Promise.all(
    ports.map((port, n) => {
      const cluster = ["--cluster_name", "plimsoll", "--cluster", `nats://127.0.0.1:${port}`, "--routes", routes];
      const name = ["--name", `server-${n}`];
      return NatsServer.start(t, { ...options, options: [...cluster, ...name, "--http_port", String(monitors[n])] });
    }),
  );
  for (const monitor of monitors) {
    const others = async () => {
      const { routes } = await (await fetch(`http://127.0.0.1:${monitor}/routez`)).json();
      return new Set(routes.map(({ remote_id }) => remote_id)).size;
    };
    await eventually(async () => (await others()) === 2, "a NATS server that knows the other two");
  }
  return servers;
}

class NatsPeer {
  /** Messages as `{ channel, payload }`. */
  messages = new Inbox("messages of NATS");
  #socket;
  #rest = "";
  #nRequests = 0;
  #answers = new Map();
  #pongs = new Inbox("answers of NATS");

  static async connect(t, port) {
    const peer = new NatsPeer();
    const socket = (peer.#socket = net.connect(port, "127.0.0.1"));
    socket.on("error", () => {});
    t.after(() => socket.destroy());
    // Bytes as characters: payloads are counted in bytes.
    socket.setEncoding("latin1").on("data", (chunk) => peer.#take(chunk));
    socket.write('CONNECT {"verbose":false}\r\nSUB > 1\r\n');
    await peer.#settle();
    return peer;
  }

  async publish(subject, payload) {
    this.#socket.write(`PUB ${subject} ${Buffer.byteLength(payload)}\r\n${payload}\r\n`);
    await this.#settle();
  }

  /** The answer to a message. */
  async request(subject, payload) {
    const inbox = `_INBOX.${(this.#nRequests += 1)}.${process.pid}`;
    const answered = new Promise((resolve) => this.#answers.set(inbox, resolve));
    this.#socket.write(`PUB ${subject} ${inbox} ${Buffer.byteLength(payload)}\r\n${payload}\r\n`);
    return within(answered, `an answer of NATS to ${subject}`);
  }

  #settle() {
    this.#socket.write("PING\r\n");
    return this.#pongs.next();
  }

  #deliver(channel, payload) {
    const answered = this.#answers.get(channel);
    this.#answers.delete(channel);
    if (answered) answered(payload);
    else this.messages.push({ channel, payload });
  }

  #take(chunk) {
    this.#rest += chunk;
    for (;;) {
      const end = this.#rest.indexOf("\r\n");
      if (end < 0) return;
      const [verb, channel, , ...more] = this.#rest.slice(0, end).split(" ");
      let length = end + 2;
      if (verb === "MSG") {
        const n = Number(more.at(-1));
        if (this.#rest.length < length + n + 2) return;
        const text = (characters) => Buffer.from(characters, "latin1").toString();
        this.#deliver(text(channel), text(this.#rest.slice(length, length + n)));
        length += n + 2;
      } else if (verb === "PONG") this.#pongs.push(verb);
      else if (verb === "PING") this.#socket.write("PONG\r\n");
      this.#rest = this.#rest.slice(length);
    }
  }
}
