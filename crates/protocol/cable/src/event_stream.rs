//! Server messages as Server-Sent Events (HTML Standard §9.2.5 and §9.2.6), the way AnyCable writes them.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The wait before a reconnection, in milliseconds, that tells a client not to come back: 24 days, the longest that
/// JavaScript's timers take. AnyCable's year overflows them, and npm's `eventsource` comes back at once, for ever.
const NEVER_RECONNECT_MS: u32 = i32::MAX.unsigned_abs();

/// How the messages of one client become events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventStream {
    /// Whether the data of a broadcast or a transmission is the whole message with its identifier, as a client with
    /// several subscriptions needs it. Otherwise it is what the application said: JSON text, or a string's own
    /// characters.
    pub is_whole: bool,
    /// Whether only the application's messages are events. What the protocol says (welcome, confirmations, pings,
    /// disconnect) goes out as comments then, which keep the connection alive and which every client skips.
    pub is_raw: bool,
}

/// What an event is made of.
#[derive(Deserialize, Default)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    message: Option<&'a RawValue>,
    reconnect: Option<bool>,
}

/// A message may be `null`; only a field that is not there is none.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl EventStream {
    /// Writes one server message, which is JSON text. Text that is no message becomes the data of an event as it is:
    /// applications may transmit what they like.
    ///
    /// A line break in the data, of any kind, arrives as `\n`: events have lines, and their ends are not data.
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
        event.push('\n');
        event
    }
}

/// A comment with nothing but `text`: it says something to people who watch the stream, and nothing to clients.
pub fn comment(text: &str) -> String {
    let mut comment = String::new();
    push_comment(&mut comment, text);
    comment.push('\n');
    comment
}

/// A string's own characters, any other value as it is written.
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

/// A line break would end the field and begin another one.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests;
