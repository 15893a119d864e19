//! The parameters of permessage-deflate in `Sec-WebSocket-Extensions` (RFC 7692 §7.1).

use std::fmt;
use std::mem::replace;

use crate::handshake::extension::Extension;

/// The registered name of the extension.
const NAME: &str = "permessage-deflate";

/// One `permessage-deflate` element: an offer or a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Parameters {
    pub(super) server_no_context_takeover: bool,
    pub(super) client_no_context_takeover: bool,
    pub(super) server_max_window_bits: Option<u8>,
    /// In an offer the value may be missing, which says only that the parameter is supported.
    pub(super) client_max_window_bits: Option<Option<u8>>,
}

impl Parameters {
    /// Reads an element. `None` for another extension, and for unknown, repeated or malformed parameters, which
    /// decline an offer and make a response invalid.
    pub(crate) fn parse(extension: &Extension<'_>) -> Option<Self> {
        if !extension.name.eq_ignore_ascii_case(NAME) {
            return None;
        }
        let mut all = Self::default();
        for (name, value) in &extension.parameters {
            let bits = match value {
                None => None,
                Some(value) => Some(parse_window_bits(value)?),
            };
            let is_repeated = match (*name, bits) {
                ("server_no_context_takeover", None) => replace(&mut all.server_no_context_takeover, true),
                ("client_no_context_takeover", None) => replace(&mut all.client_no_context_takeover, true),
                ("server_max_window_bits", Some(bits)) => all.server_max_window_bits.replace(bits).is_some(),
                ("client_max_window_bits", bits) => all.client_max_window_bits.replace(bits).is_some(),
                _ => return None,
            };
            if is_repeated {
                return None;
            }
        }
        Some(all)
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)?;
        if self.server_no_context_takeover {
            f.write_str("; server_no_context_takeover")?;
        }
        if self.client_no_context_takeover {
            f.write_str("; client_no_context_takeover")?;
        }
        if let Some(bits) = self.server_max_window_bits {
            write!(f, "; server_max_window_bits={bits}")?;
        }
        match self.client_max_window_bits {
            Some(Some(bits)) => write!(f, "; client_max_window_bits={bits}"),
            Some(None) => f.write_str("; client_max_window_bits"),
            None => Ok(()),
        }
    }
}

/// A decimal 8–15 without leading zeros, the value of the only parameters that have one (RFC 7692 §7.1.2).
fn parse_window_bits(value: &str) -> Option<u8> {
    let bits = value.parse().ok().filter(|bits| (8..=15).contains(bits))?;
    (!value.starts_with(['0', '+'])).then_some(bits)
}
