// Waits until a process listens on a TCP port or is connected: `node has-socket.mjs PID`.

import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { eventually, isAlive } from "./processes.mjs";

const [ESTABLISHED, LISTENING] = ["01", "0A"];
const pid = Number(process.argv[2]);

/** The inodes of the sockets that the process has open. */
function inodes() {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return ""; // closed in the meantime
    }
  });
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.slice(1) ?? []));
}

function hasSocket() {
  if (!isAlive(pid)) throw new Error("the program in the background has ended");
  const own = inodes();
  const rows = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, "latin1").split("\n").slice(1));
  return rows.some((row) => {
    const fields = row.trim().split(/\s+/);
    return [ESTABLISHED, LISTENING].includes(fields[3]) && own.has(fields[9]);
  });
}

await eventually(hasSocket, `a socket of process ${pid}`);
