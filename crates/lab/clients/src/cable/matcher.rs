//! Conditions on messages, checked on the JSON text so that messages that do not match cost no objects.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

/// A condition on a message.
///
/// Values are compared as JavaScript would compare them after `JSON.parse`: 1 and 1.0 are equal, 1 and "1" are not, and
/// of a duplicate key the last one counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Matcher {
    /// Every message.
    #[default]
    Any,
    /// Exactly this string.
    Text(String),
    /// An object that has all these fields, each deeply equal; it may have others.
    Fields(Vec<Field>),
}

/// One required field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    key: String,
    value: Value,
    /// The JSON text of a required string.
    literal: Option<String>,
}

/// A JSON value that cannot be a condition.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected an object of wanted fields such as {{\"author_id\":\"1\"}}, a string, or nothing; got {got}"
)]
pub struct MatcherError {
    got: String,
}

impl Matcher {
    /// The condition for a JSON value: `null` matches any message, a string an equal string, an object its fields.
    ///
    /// # Errors
    /// The text is another JSON value, or not JSON.
    pub fn from_json(json: &str) -> Result<Self, MatcherError> {
        match serde_json::from_str(json) {
            Ok(Value::Null) => Ok(Self::Any),
            Ok(Value::String(text)) => Ok(Self::Text(text)),
            Ok(Value::Object(fields)) => Ok(Self::Fields(fields.into_iter().map(Field::new).collect())),
            _ => Err(MatcherError {
                got: json.chars().take(60).collect(),
            }),
        }
    }

    /// Whether `message`, a JSON text, satisfies the condition. A text that is not JSON satisfies only
    /// [`Matcher::Any`].
    pub fn matches(&self, message: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Text(text) => {
                message.starts_with('"')
                    && serde_json::from_str::<Text<'_>>(message).is_ok_and(|message| message.0 == *text)
            }
            Self::Fields(wanted) => {
                !rules_out(wanted, message)
                    && serde_json::Deserializer::from_str(message)
                        .deserialize_map(Search(wanted))
                        .is_ok_and(|found| found)
            }
        }
    }
}

impl Field {
    fn new((key, value): (String, Value)) -> Self {
        let literal = value.is_string().then(|| value.to_string());
        Self { key, value, literal }
    }
}

/// Whether a required string is certainly not in `message`: without a backslash, JSON has only one way to write it.
fn rules_out(wanted: &[Field], message: &str) -> bool {
    let literals = || wanted.iter().filter_map(|field| field.literal.as_deref());
    literals().any(|literal| !message.contains(literal)) && !message.contains('\\')
}

/// Inside a map, serde borrows a string without escapes only through a separate type.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

struct Search<'a>(&'a [Field]);

impl<'de> Visitor<'de> for Search<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut message: A) -> Result<bool, A::Error> {
        let mut found = vec![false; self.0.len()];
        while let Some(Text(key)) = message.next_key()? {
            match self.0.iter().position(|field| field.key == key) {
                Some(at) => found[at] = same(&self.0[at].value, &message.next_value()?),
                None => drop(message.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found.into_iter().all(|found| found))
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(condition: &str, message: &str, expected: bool) {
        let matcher = Matcher::from_json(condition).unwrap();
        assert_eq!(matcher.matches(message), expected, "{condition} on {message}");
    }

    #[test]
    fn fields_are_deeply_equal_and_others_do_not_matter() {
        let message = r#"{"author_id":"1001","n":2,"deep":{"a":[1,{"b":null}],"c":true}}"#;
        check("null", message, true);
        check("{}", message, true);
        check(r#"{"author_id":"1001"}"#, message, true);
        check(r#"{"author_id":1001}"#, message, false);
        check(r#"{"author_id":"1001","n":2.0}"#, message, true);
        check(r#"{"author_id":"1001","n":3}"#, message, false);
        check(r#"{"n":"2"}"#, message, false);
        check(r#"{"deep":{"c":true,"a":[1.0,{"b":null}]}}"#, message, true);
        check(r#"{"deep":{"c":true}}"#, message, false);
        check(r#"{"a":[1,{"b":null}]}"#, message, false);
        check(r#"{"absent":null}"#, message, false);
        check("{}", "[]", false);
        check("{}", r#""text""#, false);
        check("{}", r#"{"n":"#, false);
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        check(r#"{"a":1}"#, r#"{"a":2,"a":1}"#, true);
        check(r#"{"a":1}"#, r#"{"a":1,"a":2}"#, false);
    }

    #[test]
    fn escapes_hide_nothing() {
        check(r#"{"a":"é<"}"#, r#"{"a":"\u00e9\u003c"}"#, true);
        check(r#"{"a":"é<"}"#, r#"{"\u0061":"é<"}"#, true);
        check(r#"{"a":"x\"y"}"#, r#"{"a":"x\"y"}"#, true);
        check(r#"{"a":"x\"y"}"#, r#"{"a":"xy"}"#, false);
        check(r#"{"a":"x"}"#, r#"{"b":"x"}"#, false);
    }

    #[test]
    fn a_string_is_a_whole_string() {
        check(r#""hi""#, r#""hi""#, true);
        check(r#""hi""#, r#""\u0068i""#, true);
        check(r#""hi""#, r#""hi there""#, false);
        check(r#""hi""#, r#"{"hi":"hi"}"#, false);
    }

    #[test]
    fn other_values_are_no_conditions() {
        for json in ["1", "[]", "true", "{"] {
            let error = Matcher::from_json(json).unwrap_err().to_string();
            assert!(error.contains("expected an object"), "{error}");
        }
    }
}
