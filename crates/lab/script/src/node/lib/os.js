// `os`: facts of this machine.

const facts = native.system();
const UNKNOWN = "unknown";

module.exports = {
  EOL: "\n",
  devNull: "/dev/null",
  arch: () => facts.arch,
  platform: () => facts.platform,
  type: () => ({ linux: "Linux", darwin: "Darwin" })[facts.platform] ?? facts.platform,
  machine: () => ({ x64: "x86_64", arm64: "aarch64" })[facts.arch] ?? facts.arch,
  endianness: () => "LE",
  hostname: () => facts.hostname ?? UNKNOWN,
  release: () => facts.release ?? UNKNOWN,
  version: () => facts.version ?? UNKNOWN,
  homedir: () => process.env.HOME ?? "/",
  tmpdir: () => (process.env.TMPDIR ?? process.env.TMP ?? process.env.TEMP ?? "/tmp").replace(/(.)\/$/, "$1"),
  availableParallelism: () => facts.cpus,
  cpus: () => Array.from({ length: facts.cpus }, () => ({ model: facts.cpuModel ?? UNKNOWN, speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } })),
  totalmem: () => native.memory().total,
  freemem: () => native.memory().free,
  loadavg: () => native.loadAverage(),
  uptime: () => native.upTime(),
  userInfo: () => ({ uid: facts.uid, gid: facts.gid, username: process.env.USER ?? process.env.LOGNAME ?? UNKNOWN, homedir: process.env.HOME ?? "/", shell: process.env.SHELL ?? null }),
  networkInterfaces: () => ({}),
  constants: { signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 } },
};
