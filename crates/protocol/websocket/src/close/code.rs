//! The codes of Close frames (RFC 6455 §7.4).

use std::fmt;

/// A close code that may appear on the wire: 1000–1003, 1007–1014 and 3000–4999.
///
/// 1005, 1006 and 1015 are names for "no Close frame came" and have no value of this type. Neither have unregistered
/// codes (RFC 6455 §7.4 and the IANA "WebSocket Close Code Number" registry).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CloseCode(u16);

impl CloseCode {
    /// The purpose of the connection is fulfilled.
    pub const NORMAL: Self = Self(1000);
    /// The endpoint goes away: a server that stops, a browser that left the page.
    pub const GOING_AWAY: Self = Self(1001);
    /// The peer broke the framing rules.
    pub const PROTOCOL_ERROR: Self = Self(1002);
    /// The peer sent a kind of data that is not accepted, for example binary where only text is understood.
    pub const UNSUPPORTED_DATA: Self = Self(1003);
    /// A payload contradicts its kind: text that is not UTF-8, compressed data that cannot be inflated.
    pub const INVALID_PAYLOAD: Self = Self(1007);
    /// The message violates a policy of the endpoint.
    pub const POLICY_VIOLATION: Self = Self(1008);
    /// The message is larger than the endpoint accepts.
    pub const MESSAGE_TOO_BIG: Self = Self(1009);
    /// The server met an unexpected condition.
    pub const INTERNAL_ERROR: Self = Self(1011);
    /// The server is overloaded; come back later (IANA registry).
    pub const TRY_AGAIN_LATER: Self = Self(1013);

    /// The code with this number, if it may be sent.
    pub fn new(code: u16) -> Option<Self> {
        matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999).then_some(Self(code))
    }

    /// The number on the wire.
    pub fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
