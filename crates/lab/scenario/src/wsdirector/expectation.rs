//! Whether a message matches an expectation.

use serde_json::Value;

use super::{
    mailbox::Message,
    pattern::{Difference, Pattern},
    scenario::{Envelope, Expectation},
};

impl Expectation {
    /// Whether this is the message.
    pub(super) fn matches(&self, message: &Message) -> bool {
        match (&self.envelope, &self.pattern) {
            (Envelope::Bare, Pattern::Any) => true,
            // A text is compared unchanged, whatever it is.
            (Envelope::Bare, Pattern::Text(text)) => *text == message.text,
            _ => self
                .content(message)
                .is_some_and(|content| self.pattern.compare(content).is_ok()),
        }
    }

    /// How a message that does not match differs. `None` if it has another subject.
    pub(super) fn difference(&self, message: &Message) -> Option<Difference> {
        match self.pattern {
            Pattern::Json { .. } => self.pattern.compare(self.content(message)?).err(),
            _ => None,
        }
    }

    /// What the pattern is about, when the message has it.
    fn content<'a>(&self, message: &'a Message) -> Option<&'a Value> {
        let json = message.json()?;
        match &self.envelope {
            Envelope::Bare => Some(json),
            Envelope::ActionCable { identifier, fields } => {
                let is_its = json.get("identifier").is_some_and(|found| found == identifier)
                    && fields.iter().all(|(key, value)| json.get(key) == Some(value));
                json.get("message").filter(|_| is_its)
            }
            Envelope::Phoenix { topic, event } => match json.as_array()?.as_slice() {
                [_, _, its_topic, its_event, payload] if its_topic == topic && its_event == event => {
                    Some(payload)
                }
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(envelope: Envelope, pattern: Pattern, message: &str, expected: bool) {
        let shown = String::new();
        let expectation = Expectation {
            envelope,
            pattern,
            shown,
        };
        let message = Message::new(Instant::now(), message.to_owned());
        assert_eq!(
            expectation.matches(&message),
            expected,
            "{expectation:?}, {}",
            message.text
        );
    }

    fn json(value: Value, is_partial: bool) -> Pattern {
        Pattern::Json { value, is_partial }
    }

    #[test]
    fn a_bare_text_is_compared_as_it_came() {
        let text = |text: &str| Pattern::Text(text.to_owned());
        check(Envelope::Bare, text("hi"), "hi", true);
        check(Envelope::Bare, text("hi"), "hi ", false);
        check(Envelope::Bare, text("{\"a\":1}"), "{\"a\":1}", true);
        check(Envelope::Bare, text("{\"a\":1}"), "{\"a\": 1}", false);
        check(
            Envelope::Bare,
            json(json!({ "a": 1 }), false),
            "{ \"a\": 1 }",
            true,
        );
        check(Envelope::Bare, json(json!({ "a": 1 }), false), "hi", false);
        check(Envelope::Bare, json(json!("hi"), false), "\"hi\"", true);
        check(Envelope::Bare, Pattern::Any, "anything", true);
    }

    #[test]
    fn a_cable_message_is_of_its_subscription() {
        let cable = |fields| Envelope::ActionCable {
            identifier: "{\"channel\":\"Chat\"}".to_owned(),
            fields,
        };
        let message =
            json!({ "identifier": "{\"channel\":\"Chat\"}", "message": { "n": 1 }, "offset": 7 }).to_string();
        check(cable(vec![]), json(json!({ "n": 1 }), false), &message, true);
        check(cable(vec![]), json(json!({}), false), &message, false);
        check(cable(vec![]), Pattern::Any, &message, true);
        check(
            cable(vec![("offset", json!(7))]),
            json(json!({ "n": 1 }), false),
            &message,
            true,
        );
        check(
            cable(vec![("offset", json!(8))]),
            json(json!({ "n": 1 }), false),
            &message,
            false,
        );
        check(cable(vec![("epoch", json!("x"))]), Pattern::Any, &message, false);
        let other = json!({ "identifier": "{\"channel\":\"Other\"}", "message": { "n": 1 } }).to_string();
        check(cable(vec![]), Pattern::Any, &other, false);
        let text = json!({ "identifier": "{\"channel\":\"Chat\"}", "message": "hi" }).to_string();
        check(cable(vec![]), Pattern::Text("hi".to_owned()), &text, true);
        check(cable(vec![]), Pattern::Any, "{\"type\":\"welcome\"}", false);
    }

    #[test]
    fn a_phoenix_message_is_of_its_topic_and_event() {
        let phoenix = || Envelope::Phoenix {
            topic: "room:1".to_owned(),
            event: "new".to_owned(),
        };
        let pattern = || json(json!({ "n": 1 }), false);
        check(
            phoenix(),
            pattern(),
            "[null,null,\"room:1\",\"new\",{\"n\":1}]",
            true,
        );
        check(
            phoenix(),
            pattern(),
            "[\"3\",null,\"room:1\",\"new\",{\"n\":1}]",
            true,
        );
        check(
            phoenix(),
            pattern(),
            "[null,null,\"room:2\",\"new\",{\"n\":1}]",
            false,
        );
        check(
            phoenix(),
            pattern(),
            "[null,null,\"room:1\",\"old\",{\"n\":1}]",
            false,
        );
        check(phoenix(), pattern(), "[null,null,\"room:1\",\"new\"]", false);
        check(phoenix(), pattern(), "{}", false);
    }
}
