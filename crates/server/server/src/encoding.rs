//! Encodes the server's messages for each kind of client: as WebSocket frames or Server-Sent Events.
//!
//! All code that sends to a session encodes here, with the session's format. No other module knows the transports.

use plimsoll_cable::{
    event_stream::{self, EventStream},
    reply::{self, Position},
};
use plimsoll_hub::Format;
use plimsoll_websocket::{self as websocket, CloseFrame, Opcode, deflate, encode_close, encode_frame};

use crate::mailbox::{Body, Kept, Payload};

/// Uncompressed WebSocket frames.
pub(crate) const PLAIN: Format = Format(0);
/// WebSocket frames compressed on their own (permessage-deflate without context takeover), so that all listeners with
/// compression share one frame. A message that compression would lengthen is sent uncompressed, which the extension
/// allows.
pub(crate) const DEFLATED: Format = Format(1);

/// The first of the formats for event streams. Each kind of stream has its own.
const FIRST_EVENTS: u8 = 2;
const EVENT_STREAMS: [EventStream; 4] = [
    EventStream {
        is_whole: false,
        is_raw: false,
    },
    EventStream {
        is_whole: false,
        is_raw: true,
    },
    EventStream {
        is_whole: true,
        is_raw: false,
    },
    EventStream {
        is_whole: true,
        is_raw: true,
    },
];

/// The format of broadcasts on a WebSocket with these deflate parameters. A client that limits the server's window gets
/// plain frames, because the shared frames use a larger window.
pub(crate) fn websocket_format(agreed: Option<&deflate::Agreed>) -> Format {
    match agreed {
        Some(agreed) if agreed.sent_by(websocket::Role::Server).window == deflate::WindowBits::MAX => {
            DEFLATED
        }
        _ => PLAIN,
    }
}

/// The format of an event stream.
pub(crate) fn events_format(stream: EventStream) -> Format {
    let position = (FIRST_EVENTS..)
        .zip(EVENT_STREAMS)
        .find_map(|(number, known)| (known == stream).then_some(number));
    Format(position.expect("all kinds of streams are listed"))
}

/// The kind of event stream that a format stands for. `None` is a WebSocket.
pub(crate) fn event_stream(format: Format) -> Option<EventStream> {
    let position = format.0.checked_sub(FIRST_EVENTS)?;
    EVENT_STREAMS.get(usize::from(position)).copied()
}

/// Encodes a message for one session. It is not worth compressing.
pub(crate) fn text(text: &str, format: Format) -> Vec<u8> {
    match event_stream(format) {
        Some(stream) => stream.encode(text).into_bytes(),
        None => frame(Opcode::Text, text.as_bytes()),
    }
}

/// Encodes the end of a conversation: the last message, if any, and the Close frame. An event stream has no Close
/// frame; it just ends.
pub(crate) fn last_words(message: Option<&str>, close: CloseFrame<'_>, format: Format) -> Vec<u8> {
    let mut bytes = message.map_or_else(Vec::new, |message| text(message, format));
    if event_stream(format).is_none() {
        encode_close(Some(close), None, &mut bytes);
    }
    bytes
}

/// Encodes an uncompressed WebSocket frame.
pub(crate) fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_frame(opcode, payload, None, &mut bytes);
    bytes
}

/// Encodes a publication for listeners whose subscription has this `identifier`. `None` sends the message without an
/// envelope.
pub(crate) fn publication(
    body: &Body,
    identifier: Option<&str>,
    format: Format,
    deflater: &mut deflate::Deflater,
) -> Vec<u8> {
    match body {
        Body::Passing(passing) => payload(passing, identifier, format, deflater),
        Body::Kept(message) => kept(message, identifier, format, deflater),
    }
}

/// Like [`publication`], for a message that is kept: an envelope has its position.
pub(crate) fn kept(
    message: &Kept,
    identifier: Option<&str>,
    format: Format,
    deflater: &mut deflate::Deflater,
) -> Vec<u8> {
    let (Some(identifier), Some((kind, text))) = (identifier, message.value.json()) else {
        return payload(&message.value, identifier, format, deflater);
    };
    let position = Position {
        stream: (&*message.label.stream).into(),
        epoch: (&*message.label.epoch).into(),
        offset: message.offset,
    };
    let text = reply::encode_kept_message(kind, identifier, text, &position);
    published_text(&text, format, deflater)
}

/// Like [`publication`], for a message without a position.
pub(crate) fn payload(
    payload: &Payload,
    identifier: Option<&str>,
    format: Format,
    deflater: &mut deflate::Deflater,
) -> Vec<u8> {
    match (payload, identifier) {
        (Payload::Binary(_), _) if event_stream(format).is_some() => {
            event_stream::comment("binary").into_bytes()
        }
        (Payload::Binary(bytes), _) => message(Opcode::Binary, bytes, format, deflater),
        (Payload::Json(json) | Payload::Typed { text: json, .. }, None) => {
            published_text(json, format, deflater)
        }
        (Payload::Json(json), Some(identifier)) => {
            published_text(&reply::encode_message(identifier, json), format, deflater)
        }
        (Payload::Typed { kind, text }, Some(identifier)) => {
            let text = reply::encode_typed_message(kind, identifier, text);
            published_text(&text, format, deflater)
        }
    }
}

fn published_text(json: &str, format: Format, deflater: &mut deflate::Deflater) -> Vec<u8> {
    match event_stream(format) {
        Some(_) => text(json, format),
        None => message(Opcode::Text, json.as_bytes(), format, deflater),
    }
}

/// Encodes a message as a frame. Compresses it if the format allows that and the result is smaller.
pub(crate) fn message(
    opcode: Opcode,
    payload: &[u8],
    format: Format,
    deflater: &mut deflate::Deflater,
) -> Vec<u8> {
    if format != DEFLATED {
        return frame(opcode, payload);
    }
    let mut compressed = Vec::new();
    deflater.compress(payload, &mut compressed);
    if compressed.len() >= payload.len() {
        return frame(opcode, payload);
    }
    let mut bytes = Vec::new();
    websocket::Frame {
        fin: true,
        compressed: true,
        opcode,
        payload: &compressed,
    }
    .encode(None, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_stream_has_a_format_of_its_own() {
        for stream in EVENT_STREAMS {
            assert_eq!(event_stream(events_format(stream)), Some(stream));
        }
        for format in [PLAIN, DEFLATED, Format(u8::MAX)] {
            assert_eq!(event_stream(format), None);
        }
    }

    #[track_caller]
    fn check_last_words(message: Option<&str>, format: Format, expected: &[u8]) {
        let close = CloseFrame {
            code: websocket::CloseCode::GOING_AWAY,
            reason: "x",
        };
        assert_eq!(last_words(message, close, format), expected);
    }

    #[test]
    fn an_event_stream_ends_without_a_close_frame() {
        let events = events_format(EVENT_STREAMS[0]);
        check_last_words(None, PLAIN, b"\x88\x03\x03\xe9x");
        check_last_words(Some("{}"), DEFLATED, b"\x81\x02{}\x88\x03\x03\xe9x");
        check_last_words(None, events, b"");
        check_last_words(Some("{}"), events, b"data: {}\n\n");
    }
}
