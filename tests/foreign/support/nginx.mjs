// nginx from Debian as a proxy before a server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "./ports.mjs";
import { eventually } from "./processes.mjs";

/** What a location needs for WebSockets (http://nginx.org/en/docs/http/websocket.html). */
export const UPGRADE = 'proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";';

/** Starts nginx until the test is over, with `location` in the location that passes to `address`; returns its address. */
export async function startNginx(t, address, location) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-nginx-"));
  const port = await freePort();
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
     events { worker_connections 64; }
     http {
       access_log off; ${paths.join(" ")}
       server { listen 127.0.0.1:${port}; location / { proxy_pass http://${address}; proxy_set_header Host $http_host; ${location} } }
     }`,
  );
  const env = { ...process.env, PATH: [process.env.PATH, "/usr/sbin"].join(delimiter) };
  const args = ["-e", join(folder, "error.log"), "-p", folder, "-c", join(folder, "nginx.conf")];
  const nginx = spawn("nginx", args, { env, stdio: "ignore" });
  const kill = () => nginx.kill("SIGKILL");
  const end = () => nginx.exitCode ?? nginx.signalCode;
  process.on("exit", kill);
  t.after(async () => {
    process.off("exit", kill);
    nginx.kill("SIGTERM");
    if (end() === null) await once(nginx, "exit");
    rmSync(folder, { recursive: true });
  });
  await eventually(() => {
    if (end() !== null) throw new Error(`nginx ended with ${end()}`);
    return accepts(port);
  }, "nginx to listen");
  return `127.0.0.1:${port}`;
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
