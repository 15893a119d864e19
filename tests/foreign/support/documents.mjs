// The shell blocks of a page, as a person types them: from the first to the last, in one shell and one empty folder.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { within } from "./deadline.mjs";
import { ENVIRONMENT, PROGRAM } from "./plimsoll.mjs";

const MODULES = fileURLToPath(new URL("../node_modules", import.meta.url));
const HAS_SOCKET = fileURLToPath(new URL("has-socket.mjs", import.meta.url));

/** Languages of blocks that a person types. */
const SHELLS = new Set(["sh", "bash", "shell", "console"]);

/**
 * The parts of a page that concern a person who types it, in order: `{ line, kind, text }`. The kind `run` is a shell
 * block, `marked` one that its page excludes with `<!-- not run: REASON -->`, and `file` a file that its page names with
 * `<!-- file: NAME -->`. Commands that a page takes for granted stand in `<!-- run first: COMMANDS -->` and are of the kind
 * `first`. A block below `<!-- may end with CODE: REASON -->` has that `code`, with which its last command may end.
 */
export function partsOf(markdown) {
  const lines = markdown.split("\n");
  const parts = [];
  let [mark, code] = [null, "0"];
  for (let at = 0; at < lines.length; at++) {
    const before = /^<!-- run first: (.+) -->$/.exec(lines[at]);
    if (before) parts.push({ line: at + 1, kind: "first", text: before[1] });
    const ending = /^<!-- may end with (\d+): .+ -->$/.exec(lines[at]);
    if (ending) code = ending[1];
    const comment = /^<!-- (not run|file): (.+) -->$/.exec(lines[at]);
    if (comment) mark = { line: at + 1, kind: comment[1], value: comment[2] };
    const fence = /^(\s*)(`{3,})(\w*)/.exec(lines[at]);
    if (!fence) continue;
    const [, indent, ticks, language] = fence;
    const end = lines.findIndex((line, below) => below > at && line.trim() === ticks);
    if (end < 0) throw new Error(`line ${at + 1}: the block has no end`);
    const text = lines.slice(at + 1, end).map((line) => line.slice(indent.length)).join("\n");
    const line = at + 1;
    if (mark?.kind === "file") parts.push({ line, kind: "file", name: mark.value, text });
    else if (SHELLS.has(language)) parts.push({ line, kind: mark ? "marked" : "run", text, code });
    else if (mark) throw new Error(`line ${mark.line}: \`not run\` stands above a block that is no shell block`);
    [mark, code] = [null, "0"];
    at = end;
  }
  if (mark) throw new Error(`line ${mark.line}: no block follows the mark`);
  return parts;
}

/**
 * The script of a page. A person sees that a server has started before the next line is typed; the script waits until the
 * program in the background has a socket. It stops at the first command that fails, and says in which block.
 */
function scriptOf(parts) {
  const typed = parts.flatMap(({ line, kind, name, text, code = "0" }) => {
    if (kind === "file") return [`cp "$FILES/${line}" ${name}`];
    if (kind === "marked") return [];
    const waiting = text.replace(/(?<!&)&[ \t]*$/gm, '& "$NODE" "$HAS_SOCKET" $!');
    const allowed = code === "0" ? [] : [`|| [ $? = ${code} ]`];
    return [`echo "--- the block at line ${line}" >&2`, [waiting, ...allowed].join(" ")];
  });
  return ["set -e", ...typed].join("\n");
}

/** Types a page: `{ code, output }`. Ends everything that it started. */
export async function typePage(markdown, patienceMs) {
  const root = mkdtempSync(join(tmpdir(), "plimsoll-page-"));
  const [folder, files, path] = ["empty", "files", "path"].map((name) => join(root, name));
  [folder, files, path].forEach((name) => mkdirSync(name));
  symlinkSync(resolve(PROGRAM), join(path, "plimsoll"));
  // Where Node.js looks for packages above the folder.
  symlinkSync(MODULES, join(root, "node_modules"));
  const parts = partsOf(markdown);
  parts.filter(({ kind }) => kind === "file").forEach(({ line, text }) => writeFileSync(join(files, String(line)), text));
  const own = { HOME: folder, FILES: files, NODE: process.execPath, HAS_SOCKET, PLIMSOLL_DATA_DIR: join(root, "data") };
  const shell = spawn("bash", ["-c", scriptOf(parts)], {
    cwd: folder,
    env: { ...ENVIRONMENT, ...own, PATH: [path, dirname(process.execPath), process.env.PATH].join(delimiter) },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, so that servers in the background end with the page.
    detached: true,
  });
  const endGroup = () => {
    try {
      process.kill(-shell.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  };
  process.on("exit", endGroup);
  let output = "";
  const note = (data) => (output += data);
  shell.stdout.setEncoding("utf8").on("data", note);
  shell.stderr.setEncoding("utf8").on("data", note);
  try {
    const [code] = await within(once(shell, "exit"), "the page's last command", patienceMs).catch((error) => {
      throw new Error(`${error.message}:\n${output}`);
    });
    return { code, output };
  } finally {
    endGroup();
    process.off("exit", endGroup);
    rmSync(root, { recursive: true, force: true });
  }
}
