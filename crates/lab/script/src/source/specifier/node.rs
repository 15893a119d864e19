//! Node's own modules, which scripts that were written for it ask for.

/// Modules with what does the same here.
const WITH_AN_EQUIVALENT: [(&str, &str); 8] = [
    (
        "fs",
        "read files with open() outside of functions, as in const text = open(\"./users.csv\")",
    ),
    ("fs/promises", "read files with open() outside of functions"),
    (
        "crypto",
        "use crypto.randomUUID() and crypto.getRandomValues(), which are global, or hashes of \"k6/crypto\"",
    ),
    ("url", "URL and URLSearchParams are global"),
    ("timers", "setTimeout, setInterval and their like are global"),
    ("util", "TextEncoder and TextDecoder are global"),
    ("perf_hooks", "performance is global"),
    (
        "process",
        "process.env is global in a processor, __ENV everywhere",
    ),
];

/// Further ones.
const OTHERS: [&str; 30] = [
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "querystring",
    "readline",
    "repl",
    "stream",
    "tls",
    "tty",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
];

/// The name of such a module without `node:`, and what to do instead; `None` when it is not a module of Node's.
pub(in crate::source) fn find(written: &str) -> Option<(&str, &'static str)> {
    let name = written.strip_prefix("node:").unwrap_or(written);
    let known = WITH_AN_EQUIVALENT.iter().find(|(known, _)| *known == name);
    if let Some((_, instead)) = known {
        return Some((name, instead));
    }
    let is_of_node = OTHERS.contains(&name) || name.len() < written.len();
    is_of_node.then_some((
        name,
        "remove it; only the language and the globals of the web are available",
    ))
}
