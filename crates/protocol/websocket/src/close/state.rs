//! The closing handshake (RFC 6455 §7.1): which sides have sent a Close frame, and when the connection is over.

use super::{CloseCode, CloseFrame};

/// The state of the closing handshake. One byte, no clock: the owner decides how long to wait for the peer's Close.
///
/// ```
/// use plimsoll_websocket::{CloseCode, CloseFrame, CloseState};
///
/// let mut state = CloseState::Open;
/// let received = CloseFrame { code: CloseCode::NORMAL, reason: "done" };
/// // The peer starts: echo its code, then the connection is over.
/// assert_eq!(state.on_received(Some(received)), Some(Some(CloseCode::NORMAL)));
/// assert!(state.is_closed());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CloseState {
    /// Neither side has sent a Close frame.
    #[default]
    Open,
    /// We sent ours and wait for the peer's. Send nothing more; data that still arrives may be handled or dropped.
    Closing,
    /// Both have sent a Close frame: the server closes the TCP connection, the client waits for that (§7.1.1).
    Closed,
}

impl CloseState {
    /// Starts to close. Returns whether a Close frame must be sent now; it must not be sent twice.
    pub fn start(&mut self) -> bool {
        let first = *self == Self::Open;
        if first {
            *self = Self::Closing;
        }
        first
    }

    /// Handles a received Close frame. `Some(code)` asks the caller to echo a Close frame, with that code if there is
    /// one (§5.5.1); `None` means that ours was already sent.
    pub fn on_received(&mut self, frame: Option<CloseFrame<'_>>) -> Option<Option<CloseCode>> {
        let before = std::mem::replace(self, Self::Closed);
        (before == Self::Open).then(|| frame.map(|frame| frame.code))
    }

    /// Whether data frames may still be sent.
    pub fn is_open(self) -> bool {
        self == Self::Open
    }

    /// Whether the closing handshake is complete.
    pub fn is_closed(self) -> bool {
        self == Self::Closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NORMAL: Option<CloseFrame<'_>> = Some(CloseFrame {
        code: CloseCode::NORMAL,
        reason: "bye",
    });

    #[test]
    fn the_peer_starts() {
        let mut state = CloseState::Open;
        assert!(state.is_open() && !state.is_closed());
        assert_eq!(state.on_received(NORMAL), Some(Some(CloseCode::NORMAL)));
        assert!(state.is_closed() && !state.is_open());
        assert!(!state.start(), "our Close went out as the echo");
    }

    #[test]
    fn a_close_without_code_is_echoed_without_code() {
        assert_eq!(CloseState::Open.on_received(None), Some(None));
    }

    #[test]
    fn we_start() {
        let mut state = CloseState::Open;
        assert!(state.start());
        assert!(!state.start());
        assert!(!state.is_open() && !state.is_closed());
        assert_eq!(
            state.on_received(NORMAL),
            None,
            "the answer to our Close is not answered"
        );
        assert!(state.is_closed());
        assert_eq!(state.on_received(NORMAL), None, "a second Close is ignored");
    }
}
