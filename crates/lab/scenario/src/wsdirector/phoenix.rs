//! Phoenix Channels, version 2 of their serializer: a message is `[join_ref, ref, topic, event, payload]`.

use serde_json::{Value, json};

/// A client's state of its channels.
#[derive(Debug, Default)]
pub(super) struct Channels {
    n_refs: u64,
    /// Topics that were joined, each with the reference of its join.
    joined: Vec<(String, String)>,
}

/// wsdirector's first reference.
const FIRST_REF: u64 = 3;

impl Channels {
    /// An unused reference.
    pub(super) fn next_ref(&mut self) -> String {
        self.n_refs += 1;
        (FIRST_REF - 1 + self.n_refs).to_string()
    }

    /// A message of a custom event, as text, and its reference.
    pub(super) fn message(&mut self, topic: &str, event: &str, payload: &str) -> (String, String) {
        let reference = self.next_ref();
        let join_ref = self.join_ref(topic).map(str::to_owned);
        (
            encode(join_ref.as_deref(), &reference, topic, event, payload),
            reference,
        )
    }

    /// The join message, and its reference.
    pub(super) fn join(&mut self, topic: &str, payload: &str) -> (String, String) {
        let reference = self.next_ref();
        self.joined.retain(|(known, _)| known != topic);
        self.joined.push((topic.to_owned(), reference.clone()));
        let text = encode(Some(&reference), &reference, topic, "phx_join", payload);
        (text, reference)
    }

    /// The message that leaves, and its reference.
    pub(super) fn leave(&mut self, topic: &str) -> (String, String) {
        let message = self.message(topic, "phx_leave", "{}");
        self.joined.retain(|(known, _)| known != topic);
        message
    }

    fn join_ref(&self, topic: &str) -> Option<&str> {
        let mut joined = self.joined.iter();
        let (_, reference) = joined.find(|(known, _)| known == topic)?;
        Some(reference)
    }
}

/// Encodes a message. `payload` is JSON, and is sent unchanged.
fn encode(join_ref: Option<&str>, reference: &str, topic: &str, event: &str, payload: &str) -> String {
    let head = json!([join_ref, reference, topic, event]).to_string();
    format!("{},{payload}]", head.trim_end_matches(']'))
}

/// Whether a message is the reply to `reference`, and if so, its payload.
pub(super) fn reply<'a>(message: &'a Value, reference: &str) -> Option<&'a Value> {
    match message.as_array()?.as_slice() {
        [_, its_ref, _, event, payload] if its_ref == reference && event == "phx_reply" => Some(payload),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_carry_the_reference_of_their_join() {
        let mut channels = Channels::default();
        let (join, reference) = channels.join("room:\"1]\"", "{\"token\":\"x\"}");
        assert_eq!(join, r#"["3","3","room:\"1]\"","phx_join",{"token":"x"}]"#);
        assert_eq!(reference, "3");
        assert_eq!(
            channels.message("room:\"1]\"", "new", "[1, 2]").0,
            r#"["3","4","room:\"1]\"","new",[1, 2]]"#
        );
        assert_eq!(
            channels.message("other", "new", "{}").0,
            r#"[null,"5","other","new",{}]"#
        );
        assert_eq!(
            channels.leave("room:\"1]\"").0,
            r#"["3","6","room:\"1]\"","phx_leave",{}]"#
        );
        assert_eq!(
            channels.message("room:\"1]\"", "new", "{}").0,
            r#"[null,"7","room:\"1]\"","new",{}]"#
        );
    }

    #[test]
    fn a_reply_is_known_by_its_reference() {
        let message = json!([null, "3", "room:1", "phx_reply", { "status": "ok" }]);
        assert_eq!(reply(&message, "3"), Some(&json!({ "status": "ok" })));
        assert_eq!(reply(&message, "4"), None);
        assert_eq!(reply(&json!([null, "3", "room:1", "new", {}]), "3"), None);
    }
}
