// Real Action Cable, from Debian's packages.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { within } from "./deadline.mjs";

const CONFIG = fileURLToPath(new URL("../rails/config.ru", import.meta.url));

/** Starts Puma on a free port until the test is over; returns the URL of its cable. */
export async function startRails(t) {
  const puma = spawn("puma", ["--bind", "tcp://127.0.0.1:0", "--threads", "5:5", CONFIG]);
  t.after(async () => {
    puma.kill("SIGTERM");
    if (puma.exitCode === null && puma.signalCode === null) await once(puma, "exit");
  });
  let stderr = "";
  puma.stderr.on("data", (data) => (stderr += data));
  const address = new Promise((resolve, reject) => {
    createInterface({ input: puma.stdout }).on("line", (line) => {
      const listening = /Listening on http:\/\/(\S+)/.exec(line);
      if (listening) resolve(listening[1]);
    });
    puma.on("exit", () => reject(new Error(`Puma ended: ${stderr}`)));
  });
  return `ws://${await within(address, "Puma to listen")}/cable`;
}
