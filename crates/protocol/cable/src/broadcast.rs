//! Payloads of backends: messages for streams, `{"stream":…,"data":…}`, single or in a list, and commands for the
//! server (docs/protocols/broadcasts.md, Payloads).

use serde_json::value::RawValue;

mod cluster;
mod payload;

pub use cluster::{encode, encode_disconnect};
pub use payload::{BroadcastError, parse};

/// One message for all listeners of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// The stream's name.
    pub stream: String,
    /// The payload as JSON text, ready to be embedded in a cable message.
    pub message: String,
    /// The receivers and the type of the message.
    pub options: DeliveryOptions,
}

/// Options of a delivery, AnyCable's `meta`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryOptions {
    /// The session with this id does not get the message.
    pub exclude_socket: Option<Box<str>>,
    /// The message's `type`. `None` for ordinary messages.
    pub broadcast_type: Option<Box<str>>,
    /// Whether the message is excluded from the history.
    pub is_transient: bool,
}

impl Publication {
    /// Makes a publication from a payload *string*, as backends send it.
    ///
    /// JSON other than `null` is embedded unchanged. Any other text, and `null`, becomes a JSON string
    /// (docs/protocols/broadcasts.md, Payloads).
    pub fn from_data(stream: impl Into<String>, data: &str) -> Self {
        let message = match serde_json::from_str::<&RawValue>(data) {
            Ok(json) if json.get() != "null" => json.get().to_owned(),
            _ => serde_json::to_string(data).expect("a string always serialises"),
        };
        Self {
            stream: stream.into(),
            message,
            options: DeliveryOptions::default(),
        }
    }

    /// Makes a publication from JSON text that the caller wrote.
    pub fn from_json(stream: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            stream: stream.into(),
            message: message.into(),
            options: DeliveryOptions::default(),
        }
    }
}

/// Ends every session with these identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteDisconnect {
    /// The identifiers that the application gave the sessions, character for character.
    pub identifiers: String,
    /// Whether the clients should reconnect.
    pub reconnect: bool,
}

/// One payload of a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broadcast {
    /// Messages, in their order.
    Publications(Vec<Publication>),
    /// `{"command":"disconnect",…}`.
    Disconnect(RemoteDisconnect),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_message(data: &str, expected: &str) {
        assert_eq!(Publication::from_data("s", data).message, expected, "data {data}");
    }

    #[test]
    fn json_is_embedded_and_anything_else_becomes_a_string() {
        check_message(
            r#"{"b":1, "a":12345678901234567890}"#,
            r#"{"b":1, "a":12345678901234567890}"#,
        );
        check_message(r#""abc""#, r#""abc""#);
        check_message(" [1] ", "[1]");
        check_message("null", r#""null""#);
        check_message("hello", r#""hello""#);
        check_message("{\"broken\":", r#""{\"broken\":""#);
        check_message("", r#""""#);
        check_message("1 2", r#""1 2""#);
    }
}
