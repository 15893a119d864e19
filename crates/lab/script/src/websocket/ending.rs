//! How a WebSocket ended, in k6's words: those of gorilla/websocket.

use std::time::Instant;

use plimsoll_clients::websocket::ReceiveError;

/// The end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// When it was seen.
    pub(crate) at: Instant,
    /// The close code: the server's, 1005 for a Close frame without one, 1006 for none at all; `None` when the
    /// connection broke otherwise.
    pub(crate) code: Option<u16>,
    /// The server's reason, or what stands for it.
    pub(crate) reason: String,
    /// What was unexpected about it, for an `error` event.
    pub(crate) error: Option<String>,
}

/// The codes with which a connection may end without an `error` event.
const EXPECTED: [u16; 2] = [1000, 1001];

impl Ending {
    /// Of a connection that was lost like this.
    pub(super) fn of(error: &ReceiveError, at: Instant) -> Self {
        match error {
            ReceiveError::Closed { code, reason } => Self::with_code(code.unwrap_or(1005), reason, at),
            ReceiveError::Ended => Self::with_code(1006, "unexpected EOF", at),
            ReceiveError::Lost(_) | ReceiveError::Protocol(_) => Self {
                at,
                code: None,
                reason: String::new(),
                error: Some(format!("websocket: {error}")),
            },
        }
    }

    fn with_code(code: u16, reason: &str, at: Instant) -> Self {
        let text = || {
            let before = if reason.is_empty() { "" } else { ": " };
            format!("websocket: close {code}{}{before}{reason}", meaning(code))
        };
        Self {
            at,
            code: Some(code),
            reason: reason.to_owned(),
            error: (!EXPECTED.contains(&code)).then(text),
        }
    }
}

/// What a code means (RFC 6455 §7.4.1).
fn meaning(code: u16) -> &'static str {
    match code {
        1000 => " (normal)",
        1001 => " (going away)",
        1002 => " (protocol error)",
        1003 => " (unsupported data)",
        1005 => " (no status)",
        1006 => " (abnormal closure)",
        1007 => " (invalid payload data)",
        1008 => " (policy violation)",
        1009 => " (message too big)",
        1010 => " (mandatory extension missing)",
        1011 => " (internal server error)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn endings_are_told_in_known_words() {
        let now = Instant::now();
        let closed = |code, reason: &str| ReceiveError::Closed {
            code,
            reason: reason.to_owned(),
        };
        let check = |error: ReceiveError, code: Option<u16>, text: Option<&str>| {
            let ending = Ending::of(&error, now);
            assert_eq!((ending.code, ending.error.as_deref()), (code, text), "{error}");
        };
        check(closed(Some(1000), "bye"), Some(1000), None);
        check(closed(Some(1001), ""), Some(1001), None);
        let text = "websocket: close 1002 (protocol error): why";
        check(closed(Some(1002), "why"), Some(1002), Some(text));
        check(closed(Some(3001), ""), Some(3001), Some("websocket: close 3001"));
        check(
            closed(None, ""),
            Some(1005),
            Some("websocket: close 1005 (no status)"),
        );
        let text = "websocket: close 1006 (abnormal closure): unexpected EOF";
        check(ReceiveError::Ended, Some(1006), Some(text));
        let reset = ReceiveError::Lost(io::ErrorKind::ConnectionReset);
        check(reset, None, Some("websocket: connection lost: connection reset"));
    }
}
