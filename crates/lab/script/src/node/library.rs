//! The modules of Node that exist here, as JavaScript.

/// What the names of these modules begin with in a runtime.
const SCHEME: &str = "node:";

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("lib/", $name, ".js")))),*]
    };
}

/// Modules that anything may ask for.
const MODULES: &[(&str, &str)] = texts![
    "assert",
    "assert/strict",
    "buffer",
    "console",
    "crypto",
    "events",
    "fs",
    "fs/promises",
    "http",
    "https",
    "module",
    "os",
    "path",
    "path/posix",
    "perf_hooks",
    "process",
    "querystring",
    "stream",
    "stream/promises",
    "string_decoder",
    "timers",
    "timers/promises",
    "tty",
    "url",
    "util",
    "util/types",
];

/// Their common parts.
const INTERNAL: &[(&str, &str)] = texts![
    "internal/clone",
    "internal/crypto/bytes",
    "internal/crypto/ciphers",
    "internal/crypto/constants",
    "internal/crypto/keys",
    "internal/crypto/pairs",
    "internal/crypto/signatures",
    "internal/dom",
    "internal/equality",
    "internal/errors",
    "internal/fetch",
    "internal/http",
    "internal/inspect",
    "internal/pipeline",
];

/// The names of the modules without `node:`.
pub fn names() -> Vec<&'static str> {
    MODULES.iter().map(|(name, _)| *name).collect()
}

/// The name in a runtime of the module that `specifier` asks for, with or without `node:`.
pub(crate) fn id_of(specifier: &str) -> Option<String> {
    let name = specifier.strip_prefix(SCHEME).unwrap_or(specifier);
    let is_there = MODULES.iter().any(|(known, _)| *known == name);
    is_there.then(|| internal_id(name))
}

/// The name in a runtime of a module or of a common part.
pub(crate) fn internal_id(name: &str) -> String {
    format!("{SCHEME}{name}")
}

/// The source of the module of this name in a runtime.
pub(crate) fn text(id: &str) -> Option<&'static str> {
    let name = id.strip_prefix(SCHEME)?;
    let mut all = MODULES.iter().chain(INTERNAL);
    all.find(|(known, _)| *known == name).map(|(_, text)| *text)
}
