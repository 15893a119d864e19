//! A client's identifier as it appears in the log: without signatures, tokens and passwords, because with them a reader
//! of the log could subscribe, too.

use std::fmt;

use plimsoll_redacted::{HIDDEN, is_secret_name, is_secret_value};
use serde_json::{Map, Value};

/// The longest form, in characters. An identifier may be as long as a message.
const MAX_CHARS: usize = 200;

/// An identifier for the log, formatted only when it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogForm<'a>(pub(crate) &'a str);

impl fmt::Display for LogForm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(mut parameters) = serde_json::from_str::<Map<String, Value>>(self.0) else {
            return write!(f, "{} bytes that are not a JSON object", self.0.len());
        };
        for (name, value) in &mut parameters {
            if name != "channel" && (is_secret_name(name) || has_secret(value)) {
                *value = HIDDEN.into();
            }
        }
        let text = serde_json::to_string(&parameters).expect("JSON can be written again");
        match text.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => write!(f, "{}…", &text[..end]),
            None => f.write_str(&text),
        }
    }
}

/// Whether a value holds a secret. Lists and objects always count as secret; their contents are not examined.
fn has_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => is_secret_value(text),
        Value::Array(_) | Value::Object(_) => true,
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(identifier: &str, expected: &str) {
        assert_eq!(LogForm(identifier).to_string(), expected, "{identifier}");
    }

    #[test]
    fn what_opens_something_is_hidden() {
        let signature = "9268".repeat(16);
        for (identifier, expected) in [
            (
                format!(r#"{{"channel":"$pubsub","signed_stream_name":"ImNoYXQi--{signature}"}}"#),
                r#"{"channel":"$pubsub","signed_stream_name":"***"}"#,
            ),
            (
                format!(r#"{{"channel":"CableReady::Stream","identifier":"ImNoYXQi--{signature}"}}"#),
                r#"{"channel":"CableReady::Stream","identifier":"***"}"#,
            ),
            (
                r#"{"channel":"C","accessToken":"abc","key":"eyJh.eyJl.c2ln","room":7}"#.to_owned(),
                r#"{"channel":"C","accessToken":"***","key":"***","room":7}"#,
            ),
            (
                r#"{"channel":"C","nested":{"password":"x"}}"#.to_owned(),
                r#"{"channel":"C","nested":"***"}"#,
            ),
        ] {
            check(&identifier, expected);
        }
    }

    #[test]
    fn the_rest_is_shown_in_short() {
        check(
            r#"{"channel":"ChatChannel","id":"a--b","name":"Kay"}"#,
            r#"{"channel":"ChatChannel","id":"a--b","name":"Kay"}"#,
        );
        check("eyJh.eyJl.c2ln", "14 bytes that are not a JSON object");
        let long = LogForm(&format!(r#"{{"channel":"{}"}}"#, "ä".repeat(60_000))).to_string();
        assert_eq!(long.chars().count(), MAX_CHARS + 1);
    }
}
