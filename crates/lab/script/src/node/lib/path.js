// `path`, for POSIX systems.

const { invalidType } = require("internal/errors");

const check = (value, name) => {
  if (typeof value !== "string") throw invalidType(name, "string", value);
};

/** Without `.`, `..` and repeated slashes; `isAbsolute` says whether `..` may stay at the beginning. */
function simplified(path, isAbsolute) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!isAbsolute) parts.push("..");
  }
  return parts.join("/");
}

const posix = {
  sep: "/",
  delimiter: ":",
  posix: null,
  resolve(...paths) {
    let resolved = "";
    for (let i = paths.length - 1; i >= 0 && !resolved.startsWith("/"); i--) {
      check(paths[i], `paths[${i}]`);
      if (paths[i] !== "") resolved = `${paths[i]}/${resolved}`;
    }
    if (!resolved.startsWith("/")) resolved = `${native.cwd()}/${resolved}`;
    return `/${simplified(resolved, true)}`;
  },
  normalize(path) {
    check(path, "path");
    if (path === "") return ".";
    const isAbsolute = path.startsWith("/");
    const short = simplified(path, isAbsolute);
    const end = path.endsWith("/") && short !== "" ? "/" : "";
    if (isAbsolute) return `/${short}${end}`;
    return short === "" ? (path.endsWith("/") ? "./" : ".") : short + end;
  },
  isAbsolute(path) {
    check(path, "path");
    return path.startsWith("/");
  },
  join(...paths) {
    paths.forEach((path) => check(path, "path"));
    const joined = paths.filter((path) => path !== "").join("/");
    return joined === "" ? "." : posix.normalize(joined);
  },
  relative(from, to) {
    check(from, "from");
    check(to, "to");
    const [a, b] = [posix.resolve(from), posix.resolve(to)].map((path) => path.split("/").filter(Boolean));
    let n = 0;
    while (n < a.length && n < b.length && a[n] === b[n]) n++;
    return [...a.slice(n).map(() => ".."), ...b.slice(n)].join("/");
  },
  toNamespacedPath: (path) => path,
  dirname(path) {
    check(path, "path");
    const plain = path.replace(/\/+$/, "");
    if (plain === "") return path === "" ? "." : "/";
    const at = plain.lastIndexOf("/");
    if (at < 0) return ".";
    if (at === 0) return "/";
    return at === 1 && path.startsWith("/") ? "//" : plain.slice(0, at);
  },
  basename(path, suffix) {
    check(path, "path");
    if (suffix !== undefined) check(suffix, "suffix");
    if (suffix === path) return "";
    const name = path.replace(/\/+$/, "");
    const base = name.slice(name.lastIndexOf("/") + 1);
    return suffix !== undefined && base !== suffix && base.endsWith(suffix) ? base.slice(0, base.length - suffix.length) : base;
  },
  extname(path) {
    check(path, "path");
    const base = posix.basename(path);
    const at = base.lastIndexOf(".");
    return at <= 0 || base === ".." ? "" : base.slice(at);
  },
  format(parts) {
    if (parts === null || typeof parts !== "object") throw invalidType("pathObject", "object", parts);
    const folder = parts.dir || parts.root;
    const ext = parts.ext ? (parts.ext.startsWith(".") ? parts.ext : `.${parts.ext}`) : "";
    const base = parts.base || `${parts.name || ""}${ext}`;
    if (!folder) return base;
    return folder === parts.root ? `${folder}${base}` : `${folder}/${base}`;
  },
  parse(path) {
    check(path, "path");
    const root = path.startsWith("/") ? "/" : "";
    const base = posix.basename(path);
    const ext = posix.extname(path);
    const before = path.replace(/\/+$/, "").slice(0, -base.length || undefined);
    const dir = base === "" ? root : before === root ? root : before.slice(0, -1);
    return { root, dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
  },
};
posix.posix = posix;
module.exports = posix;
