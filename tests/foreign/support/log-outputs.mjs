// What may be at the other end of a server's log: each fills up, stays away or comes back when a test says so.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  constants,
  createReadStream,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The size of the disk, in the blocks of `ulimit -f`: all that waits in the server has room on it. */
const DISK_BLOCKS = 8192;
const BLOCK_BYTES = 512;

/** A place in a folder that ends with the test. */
function place(t) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "log");
}

/** An open file that ends with the test. */
function open(t, path, flags) {
  const fd = openSync(path, flags);
  t.after(() => closeSync(fd));
  return fd;
}

/** As it should be. */
export function file(t) {
  const path = place(t);
  return { surroundings: { stderr: open(t, path, "a") }, breakDown() {}, text: () => readFileSync(path, "utf8") };
}

/** ENOSPC from the beginning, forever. */
export function fullDevice(t) {
  return { surroundings: { stderr: open(t, "/dev/full", "a") }, breakDown() {} };
}

/** A pipe with both ends open. */
function pipe(t) {
  const path = place(t);
  execFileSync("mkfifo", [path]);
  // Without waiting for the other end, and without waiting for a reader.
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { path, reading, writing: open(t, path, "w") };
}

/** Writes until there is no room. */
function fill(fd, text) {
  try {
    for (;;) writeSync(fd, text);
  } catch (error) {
    if (error.code !== "EAGAIN") throw error;
  }
}

/** EPIPE from the beginning, forever. */
export function closedPipe(t) {
  const { reading, writing } = pipe(t);
  closeSync(reading);
  return { surroundings: { stderr: writing }, breakDown() {} };
}

/** Full from the beginning, and drained when a test says so. */
export function fullPipe(t) {
  const { path, reading, writing } = pipe(t);
  t.after(() => closeSync(reading));
  const filling = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  for (const n_bytes of [4096, 1]) fill(filling, ".".repeat(n_bytes));
  closeSync(filling);
  let text = "";
  const drain = () => createReadStream(path).setEncoding("utf8").on("data", (chunk) => (text += chunk));
  return { surroundings: { stderr: writing }, breakDown() {}, recover: drain, text: () => text };
}

/**
 * A disk that a test fills and empties. The stand-in for the disk is a file of limited size (`ulimit -f`): the kernel
 * refuses to write beyond it with EFBIG, as it does with ENOSPC on a full disk.
 */
export function fillingDisk(t) {
  const path = place(t);
  return {
    surroundings: { stderr: open(t, path, "a"), file_blocks: DISK_BLOCKS },
    breakDown: () => appendFileSync(path, ".".repeat(DISK_BLOCKS * BLOCK_BYTES)),
    recover: () => truncateSync(path),
    text: () => readFileSync(path, "utf8"),
  };
}
