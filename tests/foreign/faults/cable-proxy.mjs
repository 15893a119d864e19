// A proxy with a `plimsoll serve` of its own, for runs of `plimsoll conform cable` that start and restart the server under
// test:
//
//   node cable-proxy.mjs PORT RPC_HOST [FAULT]

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { FAULTS } from "./cable.mjs";
import { Proxy } from "./proxy.mjs";
import { SERVE } from "./settings.mjs";

const [port, rpcHost, name] = process.argv.slice(2);
const fault = name ? FAULTS[name] : {};
if (!fault) throw new Error(`no fault is called ${name}`);

const child = spawn(
  process.env.PLIMSOLL_BIN,
  ["serve", "--host", "127.0.0.1", "--port", "0", "--announce", "--exit_with_stdin", "--rpc_host", rpcHost, ...SERVE],
  { stdio: ["pipe", "pipe", "inherit"] },
);
const [line] = await once(createInterface({ input: child.stdout }), "line");
const proxy = new Proxy(JSON.parse(line).address, fault);

// The suite signals the whole group: the server says goodbye, and all that passes through here first.
let isEnding = false;
process.on("SIGTERM", () => {
  isEnding = true;
  proxy.close();
});
child.on("exit", (code) => {
  if (!isEnding) process.exit(code ?? 1);
  const ended = setInterval(() => {
    if (proxy.isIdle) {
      clearInterval(ended);
      process.exit(0);
    }
  }, 10);
});
await proxy.listen(Number(port));
