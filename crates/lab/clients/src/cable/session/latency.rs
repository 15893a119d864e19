//! The latency of a message, by a time that its sender wrote into it.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};

/// Gets the milliseconds from a message's own time to its arrival.
pub type OnLatency = Box<dyn FnMut(f64)>;

/// Counts a channel's messages instead of keeping them.
pub(super) struct Counting {
    /// The top-level field with the time of sending, in milliseconds of Unix time.
    pub(super) sent_at_field: Option<Box<str>>,
    pub(super) on_latency: OnLatency,
}

impl Counting {
    /// Records a message's latency. A message without a number in the field has none.
    pub(super) fn note(&mut self, json: &str, unix_ms: u64) {
        if let Some(field) = &self.sent_at_field
            && let Some(sent_at) = number(json, field)
        {
            (self.on_latency)(unix_ms as f64 - sent_at);
        }
    }
}

/// The number in `field` of a JSON object. Of duplicate keys the last one counts.
fn number(json: &str, field: &str) -> Option<f64> {
    serde_json::Deserializer::from_str(json)
        .deserialize_map(Search(field))
        .ok()
        .flatten()
}

struct Search<'a>(&'a str);

/// Inside a map, serde borrows a string without escapes only through a separate type.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
#[serde(untagged)]
enum MaybeNumber {
    Number(f64),
    Other(IgnoredAny),
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut message: A) -> Result<Option<f64>, A::Error> {
        let mut found = None;
        while let Some(Key(key)) = message.next_key()? {
            if key == self.0 {
                found = match message.next_value()? {
                    MaybeNumber::Number(number) => Some(number),
                    MaybeNumber::Other(IgnoredAny) => None,
                };
            } else {
                message.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_at_the_top_is_a_time() {
        for (json, expected) in [
            (r#"{"a":1,"ts":1754000000123.5}"#, Some(1_754_000_000_123.5)),
            (r#"{"ts":7,"b":{"ts":8}}"#, Some(7.0)),
            (r#"{"ts":1,"ts":2}"#, Some(2.0)),
            (r#"{"b":{"ts":8}}"#, None),
            (r#"{"ts":"7"}"#, None),
            (r#"{"ts":{"x":[1]}}"#, None),
            (r#""ts""#, None),
            ("[7]", None),
        ] {
            assert_eq!(number(json, "ts"), expected, "{json}");
        }
    }
}
