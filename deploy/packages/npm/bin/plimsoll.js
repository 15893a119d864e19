#!/usr/bin/env node
// Starts the program of the package that npm installed for this platform, and ends as the program ends.

"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `plimsoll-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/plimsoll`);
} catch {
  console.error(
    `plimsoll: the package ${name}, which holds the program, is not installed.\n` +
      "There are programs for Linux with glibc on x64 and arm64. If this is such a machine, install again without --omit=optional.",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to both; other senders only know this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`plimsoll: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
