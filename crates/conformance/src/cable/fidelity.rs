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
    /// Another order of keys, or another number that is as near as floating-point numbers can be: RFC 8259 lets readers do
    /// both (§4, §6). The text names the difference and its place.
    Allowed(String),
    /// The payload changed: another value. The text names the difference and its place.
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
    let mut found = Differences::default();
    found.look(sent.get(), came.get(), &mut Vec::new());
    match (found.changed, found.allowed) {
        (Some(difference), _) => Fidelity::Changed(difference),
        (None, Some(difference)) => Fidelity::Allowed(difference),
        (None, None) => Fidelity::Rewritten,
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

/// The first difference of each kind.
#[derive(Default)]
struct Differences {
    allowed: Option<String>,
    changed: Option<String>,
}

impl Differences {
    /// Compares two values at a place, and what is in them.
    fn look(&mut self, sent: &str, came: &str, path: &mut Vec<String>) {
        if path.len() > MOST_LEVELS {
            return self.change(sent, came, path);
        }
        match (level(sent), level(came)) {
            (Level::Text(s), Level::Text(c)) if s == c => {}
            (Level::Word(s), Level::Word(c)) if s == c || is_same_number(s, c) => {}
            (Level::Word(s), Level::Word(c)) if is_rounded(s, c) => {
                self.allowed.get_or_insert_with(|| told(sent, came, path));
            }
            (Level::Array(s), Level::Array(c)) if s.len() == c.len() => {
                for (n, (sent, came)) in s.into_iter().zip(c).enumerate() {
                    self.step(format!("[{n}]"), sent, came, path);
                }
            }
            (Level::Object(s), Level::Object(c)) => match in_order(&s, c) {
                None => self.change(sent, came, path),
                Some((fields, is_moved)) => {
                    if is_moved {
                        self.allowed.get_or_insert_with(|| told(sent, came, path));
                    }
                    for ((name, sent), came) in s.iter().zip(fields) {
                        self.step(format!(".{name}"), sent, came, path);
                    }
                }
            },
            _ => self.change(sent, came, path),
        }
    }

    fn step(&mut self, step: String, sent: &RawValue, came: &RawValue, path: &mut Vec<String>) {
        path.push(step);
        self.look(sent.get(), came.get(), path);
        path.pop();
    }

    fn change(&mut self, sent: &str, came: &str, path: &[String]) {
        self.changed.get_or_insert_with(|| told(sent, came, path));
    }
}

/// The values of `came` in the order of the names of `sent`, and whether that is another order than their own; `None` if the
/// names are others.
fn in_order<'a>(
    sent: &[(Cow<'_, str>, &RawValue)],
    mut came: Vec<(Cow<'a, str>, &'a RawValue)>,
) -> Option<(Vec<&'a RawValue>, bool)> {
    let mut is_moved = false;
    let mut fields = Vec::with_capacity(sent.len());
    for (name, _) in sent {
        let at = came.iter().position(|(other, _)| other == name)?;
        is_moved |= at > 0;
        fields.push(came.remove(at).1);
    }
    came.is_empty().then_some((fields, is_moved))
}

fn told(sent: &str, came: &str, path: &[String]) -> String {
    let place = match path {
        [] => String::new(),
        path => format!(" at {}", path.join("")),
    };
    format!("sent {}{place}, got {}", excerpt(sent), excerpt(came))
}

/// Integers up to this one are exact as floating-point numbers.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether two spellings are one number to every reader, as `1.0` and `1`, or `1e3` and `1000`. Integers beyond 2^53 have
/// one spelling only: who writes another one has taken them for floating-point numbers (RFC 8259 §6).
fn is_same_number(sent: &str, came: &str) -> bool {
    match (sent.parse::<f64>(), came.parse::<f64>()) {
        (Ok(sent), Ok(came)) => sent == came && sent.abs() < MOST_EXACT,
        _ => false,
    }
}

/// Whether a number is another one only because its reader took it for a floating-point number.
fn is_rounded(sent: &str, came: &str) -> bool {
    match (sent.parse::<f64>(), came.parse::<f64>()) {
        (Ok(sent), Ok(came)) => sent == came && sent.abs() >= MOST_EXACT,
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
    fn what_readers_may_change() {
        let allowed = |difference: &str| Ok(Fidelity::Allowed(difference.to_owned()));
        check(
            r#"{"a":{"n":[0,12345678901234567890]}}"#,
            r#"{"a":{"n":[0,12345678901234567000]}}"#,
            allowed("sent 12345678901234567890 at .a.n[1], got 12345678901234567000"),
        );
        check(
            r#"{"b":1,"a":2}"#,
            r#"{"a":2,"b":1}"#,
            allowed(r#"sent {"b":1,"a":2}, got {"a":2,"b":1}"#),
        );
        check(
            "9007199254740993",
            "9007199254740992",
            allowed("sent 9007199254740993, got 9007199254740992"),
        );
    }

    #[test]
    fn what_readers_see_changed() {
        check(r#"{"b":1,"a":2}"#, r#"{"a":2,"b":0}"#, Err("sent 1 at .b, got 0"));
        check(
            r#"{"b":1,"a":2}"#,
            r#"{"a":2,"c":1}"#,
            Err(r#"sent {"b":1,"a":2}, got {"a":2,"c":1}"#),
        );
        check(
            "9007199254740993",
            "9007199254740999",
            Err("sent 9007199254740993, got 9007199254740999"),
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
