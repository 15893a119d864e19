//! The messages of a cable server, without loss: payloads stay the received text.
//!
//! Numbers beyond 2^53, the order of keys and duplicate keys are what servers get wrong, so nothing here makes a map or a
//! floating-point number of a payload.

use std::collections::BTreeSet;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

/// A text message of a server.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Message {
    #[serde(skip)]
    pub(super) text: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) identifier: Option<String>,
    /// The payload; `None` if there is none or if it is `null`.
    pub(super) message: Option<Box<RawValue>>,
    pub(super) reason: Option<String>,
    pub(super) reconnect: Option<bool>,
    pub(super) sid: Option<String>,
    pub(super) restored: Option<bool>,
    pub(super) restored_ids: Option<Vec<String>>,
    pub(super) stream_id: Option<String>,
    pub(super) epoch: Option<String>,
    pub(super) offset: Option<u64>,
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// It is not a JSON object, or a field has a type that no version of the protocol gives it.
    pub(super) fn parse(text: String) -> Result<Self, serde_json::Error> {
        let mut message: Self = serde_json::from_str(&text)?;
        message.text = text;
        Ok(message)
    }

    /// Whether it is of a type, such as `welcome`.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// Whether it carries something to a subscription.
    pub(super) fn is_for(&self, identifier: &str) -> bool {
        self.kind.is_none() && self.identifier.as_deref() == Some(identifier)
    }

    /// The payload as received; empty if there is none.
    pub(super) fn payload(&self) -> &str {
        self.message.as_ref().map_or("", |message| message.get())
    }

    /// The names of its fields.
    pub(super) fn fields(&self) -> BTreeSet<String> {
        let fields = serde_json::from_str::<std::collections::BTreeMap<String, IgnoredAny>>(&self.text);
        fields.unwrap_or_default().into_keys().collect()
    }
}

/// Text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string always serialises")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_stay_the_text_that_came() {
        let payload = r#"{"b": 12345678901234567890, "a":1.0,"a":"\u003c"}"#;
        let text = format!(r#"{{"identifier":"{{\"channel\":\"A\"}}","message":{payload}}}"#);
        let message = Message::parse(text).unwrap();
        assert!(message.is_for(r#"{"channel":"A"}"#));
        assert_eq!(message.payload(), payload);
        assert_eq!(Vec::from_iter(message.fields()), ["identifier", "message"]);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for text in ["", "[]", "1", r#"{"type":1}"#, r#"{"reconnect":"yes"}"#, "{"] {
            assert!(Message::parse(text.to_owned()).is_err(), "{text}");
        }
    }
}
