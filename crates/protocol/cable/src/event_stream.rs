//! Server messages as Server-Sent Events (HTML Standard §9.2.5 and §9.2.6), the way AnyCable writes them.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::reply::Position;

/// The wait before a reconnection, in milliseconds, for a client that should not reconnect: 24 days, the longest that
/// JavaScript's timers accept. AnyCable's year overflows them, and npm's `eventsource` then reconnects at once,
/// forever.
const NEVER_RECONNECT_MS: u32 = i32::MAX.unsigned_abs();

/// The format of one client's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventStream {
    /// Whether the data of a broadcast or a transmission is the whole message with its identifier, for clients with
    /// several subscriptions. Otherwise it is the application's payload: JSON text, or a string's own characters.
    pub is_whole: bool,
    /// Whether only the application's messages are events. Protocol messages (welcome, confirmations, pings,
    /// disconnect) are then sent as comments, which keep the connection alive and which every client skips.
    pub is_raw: bool,
}

/// The parts of an event.
#[derive(Deserialize, Default)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    message: Option<&'a RawValue>,
    reconnect: Option<bool>,
    #[serde(borrow)]
    stream_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    epoch: Option<Cow<'a, str>>,
    offset: Option<u64>,
}

/// Reads a message. `null` is a message; only a missing field is `None`.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl EventStream {
    /// Writes one server message, which is JSON text. Any other text becomes the data of an event unchanged, because
    /// applications may transmit any text.
    ///
    /// A line break of any kind in the data arrives as `\n`: events consist of lines, and the kind of line end is not
    /// preserved.
    pub fn encode(self, message: &str) -> String {
        let envelope: Envelope<'_> = serde_json::from_str(message).unwrap_or_default();
        let mut event = String::with_capacity(message.len() + 64);
        match envelope.kind.as_deref().filter(|kind| !kind.is_empty()) {
            Some(kind) if self.is_raw => push_comment(&mut event, kind),
            Some(kind) => {
                push_line(&mut event, "event", &one_line(kind));
                push_data(&mut event, message);
            }
            None if self.is_whole => push_data(&mut event, message),
            None => match envelope.message {
                Some(message) => push_data(&mut event, &text_of(message)),
                None => push_data(&mut event, message),
            },
        }
        if envelope.kind.as_deref() == Some("disconnect") && envelope.reconnect == Some(false) {
            push_line(&mut event, "retry", &NEVER_RECONNECT_MS.to_string());
        }
        if let (Some(stream), Some(epoch), Some(offset)) =
            (&envelope.stream_id, &envelope.epoch, envelope.offset)
            && !stream.contains(['\n', '\r', '\0'])
        {
            push_line(&mut event, "id", &format!("{offset}/{epoch}/{stream}"));
        }
        event.push('\n');
        event
    }
}

/// The position that an event's id stands for: `<offset>/<epoch>/<stream>`, where the stream may contain slashes.
pub fn position_of(event_id: &str) -> Option<Position<'_>> {
    let (offset, rest) = event_id.split_once('/')?;
    let (epoch, stream) = rest.split_once('/')?;
    Some(Position {
        stream: stream.into(),
        epoch: epoch.into(),
        offset: offset.parse().ok()?,
    })
}

/// A comment that contains only `text`, for people who watch the stream. Clients ignore it.
pub fn comment(text: &str) -> String {
    let mut comment = String::new();
    push_comment(&mut comment, text);
    comment.push('\n');
    comment
}

/// A string's own characters. Any other value as it was written.
fn text_of(message: &RawValue) -> Cow<'_, str> {
    serde_json::from_str::<String>(message.get()).map_or_else(|_| message.get().into(), Cow::Owned)
}

fn push_data(event: &mut String, data: &str) {
    let data = if data.contains('\r') {
        Cow::Owned(data.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(data)
    };
    for line in data.split(['\n', '\r']) {
        push_line(event, "data", line);
    }
}

fn push_line(event: &mut String, field: &str, value: &str) {
    for part in [field, ": ", value, "\n"] {
        event.push_str(part);
    }
}

fn push_comment(event: &mut String, text: &str) {
    push_line(event, "", &one_line(text));
}

/// Replaces line breaks, because one would end the field and begin another one.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests;
