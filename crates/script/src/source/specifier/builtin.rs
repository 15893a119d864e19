//! Ids that begin with `k6` and are not among the modules of this program.

use super::{super::nearest::nearest, Unresolved};

/// Modules that k6 has or had (k6 spec §2), and what there is instead. A module that this program has is found before
/// anybody looks here.
const OF_K6: [(&str, &str); 13] = [
    (
        "k6/browser",
        "browsers are not driven here, only protocols; leave the scenario with the browser to k6",
    ),
    (
        "k6/crypto/x509",
        "certificates are not parsed here; parse them before the run and open() the result",
    ),
    (
        "k6/net/grpc",
        "there is no gRPC client; leave these scenarios to k6",
    ),
    (
        "k6/experimental/browser",
        "k6 has removed it, and browsers are not driven here",
    ),
    (
        "k6/experimental/csv",
        "read the file with open() and split it in a SharedArray of k6/data",
    ),
    ("k6/experimental/fs", "read files with open()"),
    (
        "k6/experimental/grpc",
        "k6 has removed it, and there is no gRPC client here",
    ),
    (
        "k6/experimental/redis",
        "k6 has removed it, and there is no Redis client here",
    ),
    ("k6/experimental/streams", "read files with open()"),
    (
        "k6/experimental/timers",
        "import the same names from \"k6/timers\"",
    ),
    (
        "k6/experimental/tracing",
        "k6 has removed it; send the headers of the trace with the request",
    ),
    (
        "k6/experimental/webcrypto",
        "k6 has removed it; `crypto` is a global",
    ),
    (
        "k6/experimental/websockets",
        "import the same names from \"k6/websockets\"",
    ),
];

/// Why `written` is none of the `builtins`.
pub(super) fn unknown(written: &str, builtins: &[&str]) -> Unresolved {
    let owned = written.to_owned();
    if let Some((_, instead)) = OF_K6.iter().find(|(id, _)| *id == written) {
        return Unresolved::Unsupported {
            written: owned,
            instead: (*instead).to_owned(),
        };
    }
    let known = || builtins.join(", ");
    if let Some(name) = written.strip_prefix("k6/x/")
        && nearest(written, builtins).is_none()
    {
        let instead = format!(
            "extensions ({name}) are built into k6 and cannot be loaded here; what there is: {}",
            known()
        );
        return Unresolved::Unsupported {
            written: owned,
            instead,
        };
    }
    let hint = match nearest(written, builtins) {
        Some(id) => format!("; did you mean {id:?}?"),
        None => format!("; what there is: {}", known()),
    };
    Unresolved::UnknownBuiltin { written: owned, hint }
}
