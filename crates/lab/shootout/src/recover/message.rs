//! A message of a run: `{"stream":"recover-x-3","number":17,"padding":"1234…"}`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A message, as it is published and as it arrives.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Message<'a> {
    /// The stream that it was published to.
    #[serde(borrow)]
    pub(crate) stream: Cow<'a, str>,
    /// Its number in the stream, from 1.
    pub(crate) number: u64,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    pub(crate) padding: Cow<'a, str>,
}

/// The body of a broadcast over HTTP (docs/protocols/broadcasts.md).
#[derive(Serialize)]
struct Broadcast<'a> {
    stream: &'a str,
    data: &'a str,
}

/// The body that publishes a message.
pub(crate) fn body(message: &Message<'_>) -> Vec<u8> {
    const PROOF: &str = "texts and numbers always serialise";
    let data = serde_json::to_string(message).expect(PROOF);
    let broadcast = Broadcast {
        stream: &message.stream,
        data: &data,
    };
    serde_json::to_vec(&broadcast).expect(PROOF)
}

/// The number of a message that was published to `stream`; `None` for any other message.
pub(crate) fn number(json: &str, stream: &str) -> Option<u64> {
    let message: Message<'_> = serde_json::from_str(json).ok()?;
    (message.stream == stream && message.number > 0).then_some(message.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_the_application_gets_it() {
        let message = Message {
            stream: "a-1".into(),
            number: 7,
            padding: "12".into(),
        };
        let body: serde_json::Value = serde_json::from_slice(&body(&message)).unwrap();
        assert_eq!(body["stream"], "a-1");
        let data = body["data"].as_str().unwrap();
        assert_eq!(data, r#"{"stream":"a-1","number":7,"padding":"12"}"#);
        for (json, expected) in [
            (data, Some(7)),
            (r#"{"number":7,"stream":"a-1","more":1}"#, Some(7)),
            (r#"{"stream":"a-2","number":7}"#, None),
            (r#"{"stream":"a-1","number":0}"#, None),
            (r#"{"stream":"a-1"}"#, None),
            ("7", None),
        ] {
            assert_eq!(number(json, "a-1"), expected, "{json}");
        }
    }
}
