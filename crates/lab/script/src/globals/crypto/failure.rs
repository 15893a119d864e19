//! Why a call of `crypto.subtle` failed.

use rquickjs::Value;

use crate::webcrypto::{Error, Kind};

/// Why a call failed: by W3C's rules, or because code of the script threw, such as a getter.
pub(super) enum Failure {
    Crypto(Error),
    Script(rquickjs::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Crypto(error)
    }
}

impl From<rquickjs::Error> for Failure {
    fn from(error: rquickjs::Error) -> Self {
        Self::Script(error)
    }
}

/// The error for a value that should have bytes.
pub(super) fn not_bytes(name: &str, value: &Value<'_>) -> Failure {
    let text = format!(
        "{name} is {}; expected an ArrayBuffer, a typed array or a DataView, for example new TextEncoder().encode(text)",
        value.type_name()
    );
    Kind::Type.error(text).into()
}
