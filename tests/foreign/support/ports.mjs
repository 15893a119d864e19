// Ports for programs that cannot listen on port 0, and for servers that restart on the port they had.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import net from "node:net";

/** The first port that the kernel gives to port 0 and to outgoing connections: 32,768 unless an administrator changed it. */
const FIRST_EPHEMERAL = Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "latin1").trim().split(/\s+/)[0]);

/** `freePort` chooses from `LOWEST` up to, but without, `END`. `fetch` refuses some ports, of which the highest is 10,080. */
const [LOWEST, END] = [11_000, FIRST_EPHEMERAL > 16_384 ? FIRST_EPHEMERAL : 32_768];

/**
 * A port that is free now. The kernel gives it to no other program before the caller listens. The choice is random, so that
 * test files that run at the same time choose different ports.
 */
export async function freePort() {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (END - LOWEST));
    if (await isFree(port)) return port;
  }
}

/** Whether no program has the port. */
export async function isFree(port) {
  const socket = net.createServer().listen(port, "127.0.0.1");
  try {
    await once(socket, "listening");
  } catch (error) {
    if (error.code === "EADDRINUSE") return false;
    throw error;
  }
  socket.close();
  await once(socket, "close");
  return true;
}

/** Flags that give a server a port which stays free while the server restarts. */
export async function keptPort() {
  return ["--port", String(await freePort())];
}
