//! Whether a payload arrived unchanged: byte for byte, or in other bytes with the same meaning.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// Levels that are looked into. Reason: no payload of a scenario has more than ten, and the depth of the walk is bounded.
const MOST_LEVELS: usize = 64;

/// The longest excerpt of a payload, in characters.
const EXCERPT: usize = 120;

/// The fidelity of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fidelity {
    /// Byte for byte.
    Exact,
    /// Other escapes or spaces, the same meaning to every reader.
    Rewritten,
    /// The payload changed: another value, number, or order of keys. The text names the difference and its place.
    Changed(String),
}

/// Compares a sent payload with the received one; both are JSON.
pub(super) fn compare(sent: &str, came: &str) -> Fidelity {
    if sent == came {
        return Fidelity::Exact;
    }
    let (Ok(sent), Ok(came)) = (
        serde_json::from_str::<&RawValue>(sent),
        serde_json::from_str::<&RawValue>(came),
    ) else {
        return Fidelity::Changed(format!("sent {}, got {}", excerpt(sent), excerpt(came)));
    };
    match difference(sent.get(), came.get(), &mut Vec::new()) {
        None => Fidelity::Rewritten,
        Some(difference) => Fidelity::Changed(difference),
    }
}

/// The beginning of a text, with its length if that is not all.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(EXCERPT) {
        None => text.into(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()).into(),
    }
}

/// One level of a value. Names and strings without their escapes, in the order of the text, duplicates included.
enum Level<'a> {
    Object(Vec<(Cow<'a, str>, &'a RawValue)>),
    Array(Vec<&'a RawValue>),
    Text(Cow<'a, str>),
    /// A number, `true`, `false` or `null`, as written.
    Word(&'a str),
}

/// The first difference and its place; `None` when both mean the same.
fn difference(sent: &str, came: &str, path: &mut Vec<String>) -> Option<String> {
    let told = |path: &[String], sent: &str, came: &str| {
        let place = match path {
            [] => String::new(),
            path => format!(" at {}", path.join("")),
        };
        Some(format!("sent {}{place}, got {}", excerpt(sent), excerpt(came)))
    };
    if path.len() > MOST_LEVELS {
        return told(path, sent, came);
    }
    let parts: Vec<_> = match (level(sent), level(came)) {
        (Level::Text(sent), Level::Text(came)) if sent == came => return None,
        (Level::Word(sent), Level::Word(came)) if sent == came || is_same_number(sent, came) => return None,
        (Level::Array(s), Level::Array(c)) if s.len() == c.len() => {
            let items = s.into_iter().zip(c).enumerate();
            items
                .map(|(n, (sent, came))| (format!("[{n}]"), sent, came))
                .collect()
        }
        (Level::Object(s), Level::Object(c))
            if s.iter().map(|(name, _)| name).eq(c.iter().map(|(name, _)| name)) =>
        {
            let fields = s.into_iter().zip(c);
            fields
                .map(|((name, sent), (_, came))| (format!(".{name}"), sent, came))
                .collect()
        }
        _ => return told(path, sent, came),
    };
    parts.into_iter().find_map(|(step, sent, came)| {
        path.push(step);
        let found = difference(sent.get(), came.get(), path);
        path.pop();
        found
    })
}

/// Whether two spellings are one number to every reader, as `1.0` and `1`, or `1e3` and `1000`. Integers beyond 2^53 have
/// one spelling only: who writes another one has taken them for floating-point numbers (RFC 8259 §6).
fn is_same_number(sent: &str, came: &str) -> bool {
    const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
    match (sent.parse::<f64>(), came.parse::<f64>()) {
        (Ok(sent), Ok(came)) => sent == came && sent.abs() < MOST_EXACT,
        _ => false,
    }
}

fn level(value: &str) -> Level<'_> {
    let parsed = match value.as_bytes().first() {
        Some(b'{') => serde_json::from_str(value).map(|Fields(fields)| Level::Object(fields)),
        Some(b'[') => serde_json::from_str(value).map(|Items(items)| Level::Array(items)),
        Some(b'"') => serde_json::from_str(value).map(|Text(text)| Level::Text(text)),
        _ => Ok(Level::Word(value)),
    };
    // Lone surrogates: JSON by its grammar, and no string of Rust. Compared as they are written.
    parsed.unwrap_or(Level::Word(value))
}

struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);
struct Items<'a>(Vec<&'a RawValue>);

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = sequence.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sent: &str, came: &str, expected: Result<Fidelity, &str>) {
        match (compare(sent, came), expected) {
            (found, Ok(expected)) => assert_eq!(found, expected, "{sent} → {came}"),
            (Fidelity::Changed(difference), Err(expected)) => assert_eq!(difference, expected),
            (found, Err(expected)) => panic!("{sent} → {came}: {found:?}, expected {expected}"),
        }
    }

    #[test]
    fn the_same_bytes_and_the_same_meaning() {
        check(r#"{"a":1}"#, r#"{"a":1}"#, Ok(Fidelity::Exact));
        check(
            r#"{"a":[1,"<é"]}"#,
            r#"{ "a": [1, "\u003c\u00e9"] }"#,
            Ok(Fidelity::Rewritten),
        );
        check(r#""\/""#, r#""/""#, Ok(Fidelity::Rewritten));
        check("[1.0,1e3,-0]", "[1,1000.0,0]", Ok(Fidelity::Rewritten));
    }

    #[test]
    fn what_readers_see_changed() {
        check(
            r#"{"a":{"n":[0,12345678901234567890]}}"#,
            r#"{"a":{"n":[0,12345678901234567000]}}"#,
            Err("sent 12345678901234567890 at .a.n[1], got 12345678901234567000"),
        );
        check(
            r#"{"b":1,"a":2}"#,
            r#"{"a":2,"b":1}"#,
            Err(r#"sent {"b":1,"a":2}, got {"a":2,"b":1}"#),
        );
        check(
            "9007199254740993",
            "9007199254740992",
            Err("sent 9007199254740993, got 9007199254740992"),
        );
        check(r#""{}""#, "{}", Err(r#"sent "{}", got {}"#));
        check(
            r#"{"a":1,"a":2}"#,
            r#"{"a":2}"#,
            Err(r#"sent {"a":1,"a":2}, got {"a":2}"#),
        );
        check("null", "", Err("sent null, got "));
        check(
            r#""\ud800""#,
            r#""\ud801""#,
            Err(r#"sent "\ud800", got "\ud801""#),
        );
    }

    #[test]
    fn a_deep_value_ends_the_walk() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
        assert!(matches!(compare(&deep("1"), &deep("2")), Fidelity::Changed(_)));
    }
}
