//! k6's modules, natively: modules that a script can import without a file.

mod absence;
mod cable;
mod crypto;
mod csv;
mod data;
mod encoding;
mod execution;
mod faker;
mod fs;
mod grpc;
mod html;
pub(crate) mod http;
mod k6;
mod metrics;
mod module;
mod secrets;
mod streams;
pub(crate) mod timers;
mod types;
mod webcrypto;
mod websockets;
mod ws;
mod x509;

#[cfg(test)]
pub(crate) use self::cable::prototypes as cable_prototypes;
pub(crate) use self::k6::is_truthy;
use self::module::{Module, differs, same};
pub use self::{
    html::PageSelector,
    module::{Api, K6},
    types::declarations,
};

/// All modules.
const MODULES: &[Module] = &[
    k6::MODULE,
    cable::MODULE,
    crypto::MODULE,
    data::MODULE,
    encoding::MODULE,
    http::MODULE,
    grpc::MODULE,
    execution::MODULE,
    csv::MODULE,
    faker::MODULE,
    fs::MODULE,
    streams::MODULE,
    html::MODULE,
    metrics::MODULE,
    secrets::MODULE,
    timers::MODULE,
    webcrypto::MODULE,
    websockets::MODULE,
    websockets::EXPERIMENTAL,
    ws::MODULE,
    x509::MODULE,
];

/// Modules that k6 has or had, or loads by itself since version 1.2 (`k6/x/…`), and this program lacks; each with the
/// reason or an alternative.
pub const ABSENT: &[(&str, &str)] = &[
    (
        "k6/browser",
        "browser tests are not supported; run the scenario with the browser in k6",
    ),
    (
        "k6/experimental/browser",
        "k6 has removed it, and browser tests are not supported",
    ),
    (
        "k6/experimental/grpc",
        "import the same names from \"k6/net/grpc\"",
    ),
    (
        "k6/experimental/redis",
        "there is no Redis client here; read the data with setup() over HTTP, or from a file with open()",
    ),
    (
        "k6/experimental/timers",
        "import the same names from \"k6/timers\"",
    ),
    (
        "k6/experimental/tracing",
        "k6 has removed it; send the headers of the trace with the request",
    ),
    (
        "k6/x/dns",
        "there is no client for DNS; ask a resolver over HTTPS",
    ),
    ("k6/x/mqtt", "there is no client for MQTT"),
    (
        "k6/x/redis",
        "there is no Redis client here; read the data with setup() over HTTP, or from a file with open()",
    ),
    (
        "k6/x/sql",
        "there are no clients for databases; read the data with setup() over HTTP, or from a file with open()",
    ),
    (
        "k6/x/sse",
        "there are no streams of events; read a whole answer with k6/http",
    ),
    ("k6/x/tcp", "there are no plain TCP sockets"),
];

/// The global `crypto` compared with k6's; it needs no import.
pub const CRYPTO: &[Api] = &[
    same("getRandomValues"),
    same("randomUUID"),
    differs(
        "CryptoKey",
        "a class, so `key instanceof crypto.CryptoKey` works; its getters are not own properties",
    ),
    differs("subtle.decrypt", "as subtle.encrypt"),
    differs(
        "subtle.deriveBits",
        "ECDH gives the whole secret for a length of null; PBKDF2 takes 10,000,000 iterations at most",
    ),
    differs("subtle.deriveKey", "also with ECDH, and for keys of HMAC"),
    differs(
        "subtle.digest",
        "a view stands for its own bytes, not for those of its whole buffer",
    ),
    differs(
        "subtle.encrypt",
        "AES-CBC takes empty data; AES-CTR leaves the bits before the counter unchanged when it wraps",
    ),
    differs(
        "subtle.exportKey",
        "JSON Web Keys of all kinds have `ext` and `key_ops`, those of RSA also `alg`; coordinates keep leading zeros",
    ),
    differs(
        "subtle.generateKey",
        "RSA keys have 1024 to 4096 bits, and any odd public exponent; usages are checked",
    ),
    differs(
        "subtle.importKey",
        "names of digests in any case; usages are checked for all algorithms; a curve that is not that of the key is an error",
    ),
    differs(
        "subtle.sign",
        "ECDSA with the nonces of RFC 6979; RSA-PSS also with a salt of 0 bytes",
    ),
    differs(
        "subtle.verify",
        "also with public RSA keys that were JSON Web Keys; RSA-PSS also with a salt of 0 bytes",
    ),
    // Both reject, in k6 too.
    same("subtle.wrapKey"),
    same("subtle.unwrapKey"),
];

/// The module of this id.
pub(crate) fn find(id: &str) -> Option<&'static Module> {
    MODULES.iter().find(|module| module.id == id)
}

/// The ids of all modules.
pub fn ids() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|module| module.id)
}

/// The class of which the default export of a module is an instance. The properties of its instances are objects, whose
/// names are as fixed as those of the module. `None` if the default export is no instance.
pub(crate) fn class_of_default(id: &str) -> Option<&'static str> {
    (id == faker::MODULE.id).then_some("Faker")
}

/// Why k6's module with this id is unsupported; `None` for supported and for unknown modules.
pub fn absence(id: &str) -> Option<&'static str> {
    ABSENT
        .iter()
        .find(|(absent, _)| *absent == id)
        .map(|&(_, reason)| reason)
}

/// All modules with their API, and absent modules with the reason: for the reference page.
pub fn catalog() -> impl Iterator<Item = (&'static str, Result<&'static [Api], &'static str>)> {
    let present = MODULES.iter().map(|module| (module.id, Ok(module.api)));
    present.chain(ABSENT.iter().map(|&(id, reason)| (id, Err(reason))))
}
