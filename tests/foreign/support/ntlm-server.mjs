// A server that asks for NTLM: `ntlm/server.py`, whose verifier is pyspnego.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { within } from "./deadline.mjs";
import { pythonWith } from "./python.mjs";
import { folderOf } from "./scripts.mjs";

const FOLDER = fileURLToPath(new URL("../ntlm/", import.meta.url));

/** Domain, user and password. */
const ACCOUNTS = "DOMAIN:john:secret word\n:mary@example.com:pä$$wörd\n";

/** Starts on a free port and ends with the test: its address, such as `127.0.0.1:4000`. */
export async function startNtlmServer(t) {
  const accounts = join(folderOf(t, { accounts: ACCOUNTS }), "accounts");
  const env = { ...process.env, NTLM_USER_FILE: accounts, PYTHONPATH: join(FOLDER, "packages"), PYTHONUTF8: "1" };
  const server = spawn(pythonWith("cryptography"), [join(FOLDER, "server.py")], { stdio: ["ignore", "pipe", "inherit"], env });
  t.after(() => server.kill("SIGKILL"));
  const ended = once(server, "exit").then(([code]) => {
    throw new Error(`ntlm/server.py ended with ${code}; \`cargo xtask test --only setup\` installs what it needs`);
  });
  const [port] = await within(Promise.race([once(createInterface(server.stdout), "line"), ended]), "the server of NTLM");
  ended.catch(() => {});
  return `127.0.0.1:${port}`;
}
