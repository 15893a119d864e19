// `fs`, for reading. What would write does not exist, so that asking for it is found before the run.

const { coded, invalidType, needFunction } = require("internal/errors");

function pathOf(path, name = "path") {
  if (path instanceof URL) return require("url").fileURLToPath(path);
  if (ArrayBuffer.isView(path)) return Buffer.from(path).toString();
  if (typeof path !== "string") throw invalidType(name, ["string", "Buffer", "URL"], path);
  if (path.includes("\0")) throw require("internal/errors").invalidValue(name, path, "must be a string, Uint8Array, or URL without null bytes");
  return path;
}

const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding) ?? null;

function readFileSync(path, options) {
  if (typeof path === "number") throw coded(Error, "EBADF", "EBADF: bad file descriptor, read", { errno: -9, syscall: "read" });
  const encoding = encodingOf(options);
  if (encoding !== null && encoding !== "buffer" && !Buffer.isEncoding(encoding)) {
    throw require("internal/errors").invalidValue("encoding", encoding, "is invalid encoding");
  }
  const bytes = Buffer.from(native.readFile(pathOf(path)));
  return encoding === null || encoding === "buffer" ? bytes : bytes.toString(encoding);
}

const KINDS = { file: 0o100000, folder: 0o040000, link: 0o120000, other: 0 };

class Stats {
  constructor(facts) {
    const { kind, ...numbers } = facts;
    Object.assign(this, numbers);
    for (const name of ["atime", "mtime", "ctime", "birthtime"]) {
      Object.defineProperty(this, name, { value: new Date(this[`${name}Ms`]), enumerable: true, writable: true, configurable: true });
    }
  }

  #is(kind) { return (this.mode & 0o170000) === KINDS[kind]; }
  isFile() { return this.#is("file"); }
  isDirectory() { return this.#is("folder"); }
  isSymbolicLink() { return this.#is("link"); }
  isFIFO() { return (this.mode & 0o170000) === 0o010000; }
  isSocket() { return (this.mode & 0o170000) === 0o140000; }
  isBlockDevice() { return (this.mode & 0o170000) === 0o060000; }
  isCharacterDevice() { return (this.mode & 0o170000) === 0o020000; }
}

class Dirent {
  #kind;

  constructor(name, parentPath, kind) {
    this.#kind = kind;
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
  }

  isFile() { return this.#kind === "file"; }
  isDirectory() { return this.#kind === "folder"; }
  isSymbolicLink() { return this.#kind === "link"; }
  isFIFO() { return false; }
  isSocket() { return false; }
  isBlockDevice() { return false; }
  isCharacterDevice() { return false; }
}

const statOf = (follows) => (path, options) => {
  try {
    return new Stats(native.stat(pathOf(path), follows));
  } catch (error) {
    if (options?.throwIfNoEntry === false && error.code === "ENOENT") return undefined;
    throw error;
  }
};
const statSync = statOf(true);
const lstatSync = statOf(false);

function readdirSync(path, options) {
  const folder = pathOf(path);
  const found = [];
  const visit = (at, before) => {
    for (const [name, kind] of native.readFolder(at)) {
      found.push(options?.withFileTypes ? new Dirent(name, at, kind) : before + name);
      if (options?.recursive && kind === "folder") visit(`${at}/${name}`, `${before}${name}/`);
    }
  };
  visit(folder, "");
  return found;
}

const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, O_RDONLY: 0 };

function accessSync(path, mode = constants.F_OK) {
  native.access(pathOf(path), mode);
}

function existsSync(path) {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

const realpathSync = (path) => native.realPath(pathOf(path));
realpathSync.native = realpathSync;
const readlinkSync = (path) => native.readLink(pathOf(path));

/** With a callback at the end of the arguments. */
const withCallback = (run) => (...args) => {
  const callback = args.pop();
  needFunction(callback, "cb");
  let outcome;
  try {
    outcome = [null, run(...args)];
  } catch (error) {
    if (error.code?.startsWith("ERR_")) throw error;
    outcome = [error];
  }
  setImmediate(() => callback(...(outcome[1] === undefined ? outcome.slice(0, 1) : outcome)));
};

/** With a promise, which is settled later. */
const withPromise = (run) => async (...args) => {
  await new Promise((resolve) => setImmediate(resolve));
  return run(...args);
};

function createReadStream(path, options = {}) {
  const { Readable } = require("stream");
  const { start = 0, end = Infinity, highWaterMark = 64 * 1024 } = typeof options === "string" ? {} : options;
  let bytes;
  let at = 0;
  const stream = new Readable({
    encoding: encodingOf(options) ?? undefined,
    read() {
      if (bytes === undefined) {
        try {
          bytes = readFileSync(path).subarray(start, end === Infinity ? undefined : end + 1);
        } catch (error) {
          this.destroy(error);
          return;
        }
        this.emit("open", 0);
        this.emit("ready");
      }
      if (at >= bytes.length) return void this.push(null);
      const part = bytes.subarray(at, at + highWaterMark);
      at += part.length;
      stream.bytesRead += part.length;
      this.push(part);
    },
  });
  stream.path = path;
  stream.bytesRead = 0;
  return stream;
}

const exists = (path, callback) => void setImmediate(() => callback(existsSync(path)));
Object.defineProperty(exists, Symbol.for("nodejs.util.promisify.custom"), { value: async (path) => existsSync(path) });

const promises = {
  readFile: withPromise(readFileSync), stat: withPromise(statSync), lstat: withPromise(lstatSync), readdir: withPromise(readdirSync),
  access: withPromise(accessSync), realpath: withPromise(realpathSync), readlink: withPromise(readlinkSync), constants,
};

module.exports = {
  readFileSync, readFile: withCallback(readFileSync), statSync, stat: withCallback(statSync), lstatSync, lstat: withCallback(lstatSync),
  readdirSync, readdir: withCallback(readdirSync), accessSync, access: withCallback(accessSync), existsSync, exists,
  realpathSync, realpath: withCallback(realpathSync), readlinkSync, readlink: withCallback(readlinkSync), createReadStream,
  Stats, Dirent, constants, ...constants, promises,
};
