//! Close payloads (RFC 6455 §5.5.1), their codes in [`CloseCode`], and the closing handshake in [`CloseState`].

use crate::decoder::DecodeError;

mod code;
mod state;

pub use code::CloseCode;
pub use state::CloseState;

/// The payload of a Close frame that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseFrame<'a> {
    /// Why the connection ends, for programs.
    pub code: CloseCode,
    /// Why the connection ends, for people; at most 123 bytes reach the wire.
    pub reason: &'a str,
}

impl<'a> CloseFrame<'a> {
    /// Reads the payload of a Close frame: empty, or a code and a UTF-8 reason.
    pub(crate) fn parse(payload: &'a [u8]) -> Result<Option<Self>, DecodeError> {
        let Some((code, reason)) = payload.split_first_chunk::<2>() else {
            return if payload.is_empty() {
                Ok(None)
            } else {
                Err(DecodeError::TruncatedCloseCode)
            };
        };
        let number = u16::from_be_bytes(*code);
        let code = CloseCode::new(number).ok_or(DecodeError::InvalidCloseCode(number))?;
        let reason = std::str::from_utf8(reason).map_err(|_| DecodeError::InvalidUtf8)?;
        Ok(Some(Self { code, reason }))
    }
}
