//! Encodes the server's messages for each kind of client: as WebSocket frames or Server-Sent Events, in JSON or a binary
//! encoding (docs/protocols/encodings.md).
//!
//! All code that sends to a session encodes here, with the session's format, and commands in binary encodings are decoded
//! here. No other module knows the transports and the encodings. Messages are made as JSON text; a binary one is made
//! from that, once for all listeners with the same identifier and format.

use std::borrow::Cow;

use plimsoll_cable::{
    encoding::{Content, DecodeError, Encoding, ReplyEncodeError},
    event_stream::{self, EventStream},
    reply::{self, Position},
    subprotocol::Dialect,
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

/// The first of the formats of binary dialects. Each dialect has two: plain and compressed.
const FIRST_BINARY: u8 = FIRST_EVENTS + EVENT_STREAMS.len() as u8;
/// The dialects. The messages of both msgpack ones are the same.
const BINARY: [Dialect; 3] = [
    Dialect {
        encoding: Encoding::Msgpack,
        is_extended: false,
    },
    Dialect {
        encoding: Encoding::Protobuf,
        is_extended: false,
    },
    Dialect {
        encoding: Encoding::Protobuf,
        is_extended: true,
    },
];

/// The format of broadcasts on a WebSocket with this dialect and these deflate parameters. A client that limits the
/// server's window gets plain frames, because the shared frames use a larger window.
pub(crate) fn websocket_format(agreed: Option<&deflate::Agreed>, dialect: Dialect) -> Format {
    let window = agreed.map(|agreed| agreed.sent_by(websocket::Role::Server).window);
    dialect_format(dialect, window == Some(deflate::WindowBits::MAX))
}

fn dialect_format(dialect: Dialect, is_deflated: bool) -> Format {
    let is_it = |known: &Dialect| {
        let differs = dialect.encoding == Encoding::Protobuf && known.is_extended != dialect.is_extended;
        known.encoding == dialect.encoding && !differs
    };
    let mut formats = (FIRST_BINARY..).step_by(2).zip(&BINARY);
    let first = formats
        .find(|(_, known)| is_it(known))
        .map_or(PLAIN.0, |(first, _)| first);
    Format(first + u8::from(is_deflated))
}

/// The binary dialect that a format stands for. `None`: JSON.
fn binary(format: Format) -> Option<Dialect> {
    let position = format.0.checked_sub(FIRST_BINARY)?;
    BINARY.get(usize::from(position / 2)).copied()
}

fn is_deflated(format: Format) -> bool {
    format == DEFLATED || binary(format).is_some() && (format.0 - FIRST_BINARY) % 2 == 1
}

/// The JSON text of a command of a client with this format, in UTF-8 if the client sends such. JSON is taken from both
/// kinds of messages.
///
/// # Errors
/// The message is not in the client's encoding.
pub(crate) fn command<'a>(
    format: Format,
    opcode: Opcode,
    message: &'a [u8],
) -> Result<Cow<'a, [u8]>, (Encoding, DecodeError)> {
    let Some(Dialect { encoding, .. }) = binary(format) else {
        return Ok(Cow::Borrowed(message));
    };
    let content = match opcode {
        Opcode::Text => Content::Text(""),
        _ => Content::Binary(message),
    };
    let json = encoding
        .command_json(content)
        .map_err(|error| (encoding, error))?;
    Ok(Cow::Owned(json.into_owned().into_bytes()))
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

/// What sessions with this format are connected by.
pub(crate) fn transport(format: Format) -> &'static str {
    match event_stream(format) {
        Some(_) => "events",
        None => "websocket",
    }
}

/// Encodes a message for one session. It is not worth compressing.
pub(crate) fn text(text: &str, format: Format) -> Vec<u8> {
    match (event_stream(format), binary(format)) {
        (Some(stream), _) => stream.encode(text).into_bytes(),
        (None, Some(dialect)) => match binary_message(text, dialect) {
            Some(bytes) => frame(Opcode::Binary, &bytes),
            None => nothing(),
        },
        (None, None) => frame(Opcode::Text, text.as_bytes()),
    }
}

/// A message in a binary dialect. `None`: it does not exist there.
fn binary_message(json: &str, dialect: Dialect) -> Option<Vec<u8>> {
    let encoded = dialect.encoding.encode_reply(json, dialect.is_extended);
    match encoded {
        Ok(bytes) => Some(bytes.into_owned()),
        Err(error @ ReplyEncodeError::NotInProtobuf(_)) => {
            tracing::debug!(%error, "A message is not sent.");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "A message of the application or a backend is not sent.");
            None
        }
    }
}

/// A frame in the place of a message that a dialect lacks: an empty Pong, which every client ignores (RFC 6455 §5.5.3).
fn nothing() -> Vec<u8> {
    frame(Opcode::Pong, b"")
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
    match (event_stream(format), binary(format)) {
        (Some(_), _) => text(json, format),
        (None, Some(dialect)) => match binary_message(json, dialect) {
            Some(bytes) => message(Opcode::Binary, &bytes, format, deflater),
            None => nothing(),
        },
        (None, None) => message(Opcode::Text, json.as_bytes(), format, deflater),
    }
}

/// Encodes a message as a frame. Compresses it if the format allows that and the result is smaller.
pub(crate) fn message(
    opcode: Opcode,
    payload: &[u8],
    format: Format,
    deflater: &mut deflate::Deflater,
) -> Vec<u8> {
    if !is_deflated(format) {
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
        for format in [PLAIN, DEFLATED, Format(FIRST_BINARY), Format(u8::MAX)] {
            assert_eq!(event_stream(format), None);
        }
    }

    #[test]
    fn every_dialect_has_a_format_of_its_own() {
        let mut formats = Vec::new();
        for name in Dialect::names() {
            let dialect = Dialect::of(Some(name));
            for is_compressed in [false, true] {
                let format = dialect_format(dialect, is_compressed);
                assert_eq!(is_deflated(format), is_compressed, "{name}");
                let encoding = binary(format).map_or(Encoding::Json, |dialect| dialect.encoding);
                assert_eq!(encoding, dialect.encoding, "{name}");
                formats.push(format.0);
            }
        }
        formats.sort_unstable();
        formats.dedup();
        assert_eq!(
            formats,
            [0, 1, 6, 7, 8, 9, 10, 11],
            "JSON, msgpack, and two of protobuf"
        );
    }

    #[test]
    fn a_message_that_a_dialect_lacks_is_a_frame_that_clients_ignore() {
        let protobuf = Format(FIRST_BINARY + 2);
        assert_eq!(text(r#"{"type":"note"}"#, protobuf), b"\x8a\x00");
        assert_eq!(text(r#"{"type":"pong"}"#, protobuf), b"\x82\x02\x08\x65");
        let msgpack = Format(FIRST_BINARY);
        assert_eq!(
            text(r#"{"type":"pong"}"#, msgpack),
            b"\x82\x0b\x81\xa4type\xa4pong"
        );
        assert_eq!(text("not JSON", msgpack), b"\x8a\x00");
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
