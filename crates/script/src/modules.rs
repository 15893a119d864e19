//! k6's modules, natively: what a script can import without a file.

use rquickjs::{Ctx, Object, Result};

mod execution;
pub(crate) mod html;
mod k6;
mod metrics;
pub(crate) mod timers;

/// A module of the host.
pub(crate) struct Module {
    /// What a script writes after `from`.
    pub(crate) id: &'static str,
    /// Makes its exports; once per virtual user, when the script first imports it.
    pub(crate) build: for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>,
    /// What it has, for people.
    pub(crate) api: &'static [Api],
}

/// One thing of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// The name: `check`, or `Counter.add` for a method.
    pub name: &'static str,
    /// How it compares with k6.
    pub k6: K6,
}

/// How something compares with k6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum K6 {
    /// It does the same.
    Same,
    /// It differs, and how.
    Differs(&'static str),
    /// k6 has it and this program has not, and why or what to do instead.
    Absent(&'static str),
    /// This program has it and k6 has not, and what it does.
    Beyond(&'static str),
}

/// All modules.
const MODULES: &[Module] = &[
    k6::MODULE,
    execution::MODULE,
    html::MODULE,
    metrics::MODULE,
    timers::MODULE,
];

/// Modules that k6 has and this program has not: what to do instead.
const ABSENT: &[(&str, &str)] = &[
    ("k6/browser", "browser tests are not built; use k6 for them"),
    (
        "k6/net/grpc",
        "gRPC is not built; test gRPC with k6, and the cable side of your application here",
    ),
    ("k6/crypto/x509", "certificates cannot be read here"),
    (
        "k6/secrets",
        "not built; pass secrets with --env and do not log them",
    ),
    ("k6/experimental/fs", "not built; use open() in the init context"),
    ("k6/experimental/csv", "not built; use open() and a SharedArray"),
    ("k6/experimental/streams", "not built"),
    ("k6/experimental/redis", "not built; k6 removed it, too"),
    ("k6/experimental/tracing", "not built; k6 removed it, too"),
];

/// The module of this id.
pub(crate) fn find(id: &str) -> Option<&'static Module> {
    MODULES.iter().find(|module| module.id == id)
}

/// The ids of all modules.
pub fn ids() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|module| module.id)
}

/// Why k6's module of this id is not here; `None` when it is, or when k6 has none of this name.
pub fn absence(id: &str) -> Option<&'static str> {
    ABSENT
        .iter()
        .find(|(absent, _)| *absent == id)
        .map(|&(_, reason)| reason)
}

/// Every module with what it has, and those that are absent with the reason: for the reference page.
pub fn catalog() -> impl Iterator<Item = (&'static str, std::result::Result<&'static [Api], &'static str>)> {
    let present = MODULES.iter().map(|module| (module.id, Ok(module.api)));
    present.chain(ABSENT.iter().map(|&(id, reason)| (id, Err(reason))))
}

/// Shorthand for the tables of the modules.
const fn same(name: &'static str) -> Api {
    Api { name, k6: K6::Same }
}

/// Likewise.
const fn differs(name: &'static str, how: &'static str) -> Api {
    Api {
        name,
        k6: K6::Differs(how),
    }
}
