//! Turning a publication into the frame that one kind of listener gets.

use plimsoll_cable::reply;
use plimsoll_hub::{Format, Frame};
use plimsoll_websocket::{self as websocket, Opcode, deflate, encode_frame};

use crate::mailbox::Payload;

/// Frames as they are.
pub(crate) const PLAIN: Format = Format(0);
/// Frames compressed on their own (permessage-deflate without context takeover), so that all listeners who
/// agreed to compression share one. Never longer than the plain form: that is allowed too.
pub(crate) const DEFLATED: Format = Format(1);

/// How broadcasts are sent on a connection with these terms. A client that limits the server's window gets
/// plain frames: the shared ones reach further back than it can.
pub(crate) fn format(agreed: Option<&deflate::Agreed>) -> Format {
    match agreed {
        Some(agreed) if agreed.sent_by(websocket::Role::Server).window == deflate::WindowBits::MAX => {
            DEFLATED
        }
        _ => PLAIN,
    }
}

/// Makes a plain frame.
pub(crate) fn frame(opcode: Opcode, payload: &[u8]) -> Frame {
    let mut bytes = Vec::with_capacity(payload.len() + MAX_HEADER_BYTES);
    encode_frame(opcode, payload, None, &mut bytes);
    bytes.into()
}

/// A server's frame header: two bytes and a length of up to eight (RFC 6455 §5.2).
const MAX_HEADER_BYTES: usize = 10;

/// Encodes a publication for listeners that know it as `identifier` (`None`: bare).
pub(crate) fn publication(
    payload: &Payload,
    identifier: Option<&str>,
    format: Format,
    deflater: &mut deflate::Deflater,
) -> Frame {
    match (payload, identifier) {
        (Payload::Binary(bytes), _) => message(Opcode::Binary, bytes, format, deflater),
        (Payload::Json(text) | Payload::Typed { text, .. }, None) => {
            message(Opcode::Text, text.as_bytes(), format, deflater)
        }
        (Payload::Json(text), Some(identifier)) => {
            let text = reply::encode_message(identifier, text);
            message(Opcode::Text, text.as_bytes(), format, deflater)
        }
        (Payload::Typed { kind, text }, Some(identifier)) => {
            let text = reply::encode_typed_message(kind, identifier, text);
            message(Opcode::Text, text.as_bytes(), format, deflater)
        }
    }
}

fn message(opcode: Opcode, payload: &[u8], format: Format, deflater: &mut deflate::Deflater) -> Frame {
    if format != DEFLATED {
        return frame(opcode, payload);
    }
    let mut compressed = Vec::new();
    deflater.compress(payload, &mut compressed);
    if compressed.len() >= payload.len() {
        return frame(opcode, payload);
    }
    let mut bytes = Vec::with_capacity(compressed.len() + MAX_HEADER_BYTES);
    websocket::Frame {
        fin: true,
        compressed: true,
        opcode,
        payload: &compressed,
    }
    .encode(None, &mut bytes);
    bytes.into()
}
