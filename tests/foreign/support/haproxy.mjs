// HAProxy from Debian with a configuration of `deploy/`, and a resolver in place of Docker's.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createSocket } from "node:dgram";
import { delimiter, join } from "node:path";
import { freePort } from "./ports.mjs";
import { folderOf } from "./scripts.mjs";

const PATH = [process.env.PATH, "/usr/sbin"].join(delimiter);

/** Starts HAProxy until the test is over. It has read its configuration and listens when this resolves. */
export async function startHaproxy(t, config) {
  const folder = folderOf(t, { "haproxy.cfg": config });
  const haproxy = spawn("haproxy", ["-db", "-f", join(folder, "haproxy.cfg")], {
    env: { ...process.env, PATH },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  haproxy.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const kill = () => haproxy.kill("SIGKILL");
  const end = () => haproxy.exitCode ?? haproxy.signalCode;
  process.on("exit", kill);
  t.after(async () => {
    process.off("exit", kill);
    kill();
    if (end() === null) await once(haproxy, "exit");
  });
  return {
    /** Throws what HAProxy said if it has ended. */
    assertRuns() {
      if (end() !== null) throw new Error(`haproxy ended with ${end()}: ${said}`);
    },
  };
}

/**
 * A resolver that knows the IPv4 addresses of `hosts`, `{ name: address }`, which may change; other names do not exist.
 * Returns its address.
 */
export async function startResolver(t, hosts) {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => socket.send(answerOf(query, hosts), port, address));
  socket.bind(await freePort(), "127.0.0.1");
  await once(socket, "listening");
  t.after(() => new Promise((resolve) => socket.close(resolve)));
  return `127.0.0.1:${socket.address().port}`;
}

/** RFC 1035, section 4: the question again, and one record of type A if the name is known. */
function answerOf(query, hosts) {
  const labels = [];
  let at = 12;
  for (; query[at] !== 0; at += 1 + query[at]) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]));
  const question = query.subarray(12, at + 5);
  const address = query.readUInt16BE(at + 1) === 1 && hosts[labels.join(".")];
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  // An answer, recursion available; without a record: no such name.
  head.writeUInt16BE(address ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(address ? 1 : 0, 6);
  if (!address) return Buffer.concat([head, question]);
  const bytes = address.split(".").map(Number);
  // A pointer to the name in the question, type A, class IN, a second to live, four bytes.
  return Buffer.concat([head, question, Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...bytes])]);
}
