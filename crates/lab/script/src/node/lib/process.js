// `process`, as far as a processor has one: it is a guest in the program that runs the test.

const EventEmitter = require("events");
const { absent, needFunction } = require("internal/errors");

const facts = native.system();

/** A stream that writes lines to the log. */
function output(level, fd) {
  const { Writable } = require("stream");
  let rest = "";
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, encoding, done) {
      const lines = (rest + (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString())).split("\n");
      rest = lines.pop();
      lines.forEach((line) => native.log(level, line));
      done();
    },
  });
  return Object.assign(stream, { fd, isTTY: false, columns: 80 });
}

class Process extends EventEmitter {}

const process = new Process();
const begun = native.now();

function hrtime(before) {
  const now = Math.floor(native.now());
  let [seconds, nanos] = [Math.floor(now / 1e9), now % 1e9];
  if (before !== undefined) {
    seconds -= before[0];
    nanos -= before[1];
    if (nanos < 0) [seconds, nanos] = [seconds - 1, nanos + 1e9];
  }
  return [seconds, nanos];
}
hrtime.bigint = () => BigInt(Math.floor(native.now()));

const leave = (name) => () => {
  throw absent(`process.${name}()`, "end one user with next(error), or the test with a check of ensure");
};

Object.assign(process, {
  title: "plimsoll",
  version: "v22.0.0",
  versions: Object.freeze({ node: "22.0.0" }),
  release: { name: "node" },
  arch: facts.arch,
  platform: facts.platform,
  pid: facts.pid,
  ppid: facts.ppid,
  execPath: facts.program,
  execArgv: [],
  argv: [facts.program, facts.entry],
  argv0: "plimsoll",
  exitCode: undefined,
  config: {},
  features: { inspector: false, ipv6: true, tls: true },
  cwd: native.cwd,
  umask: () => 0o022,
  uptime: () => (native.now() - begun) / 1e9,
  hrtime,
  memoryUsage: Object.assign(() => native.memoryUse(), { rss: () => native.memoryUse().rss }),
  getuid: () => facts.uid,
  getgid: () => facts.gid,
  geteuid: () => facts.uid,
  getegid: () => facts.gid,
  nextTick(callback, ...args) {
    needFunction(callback, "callback");
    native.tick(callback, ...args);
  },
  emitWarning(warning, typeOrOptions, code) {
    const type = typeof typeOrOptions === "object" ? typeOrOptions?.type : typeOrOptions;
    code ??= typeof typeOrOptions === "object" ? typeOrOptions?.code : undefined;
    const text = warning instanceof Error ? `${warning.name}: ${warning.message}` : `${type ?? "Warning"}: ${warning}`;
    native.log("warn", code === undefined ? text : `[${code}] ${text}`);
  },
  exit: leave("exit"),
  abort: leave("abort"),
  kill: leave("kill"),
  reallyExit: leave("exit"),
  chdir: () => {
    throw absent("process.chdir()", "use absolute paths");
  },
});
Object.defineProperty(process, "env", { get: () => native.environment(), enumerable: true, configurable: true });
for (const [name, level, fd] of [["stdout", "info", 1], ["stderr", "error", 2]]) {
  let stream;
  Object.defineProperty(process, name, { get: () => (stream ??= output(level, fd)), enumerable: true, configurable: true });
}
Object.defineProperty(process, Symbol.toStringTag, { value: "process", configurable: true });

module.exports = process;
