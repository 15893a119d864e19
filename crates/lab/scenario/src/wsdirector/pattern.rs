//! The required form of a message.
//!
//! `data` is exact in both directions: the message has all expected values and no others. `data>` is partial: the
//! message has all expected values, in maps at any depth, and may have other keys. Lists must have the expected length
//! in both.

use std::fmt;

use serde_json::Value;

/// The required form of the text of a message, or of the part that a protocol carries.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    /// Anything.
    Any,
    /// Exactly this text.
    Text(String),
    /// This JSON value. If it is partial, objects may have more keys.
    Json { value: Value, is_partial: bool },
}

/// The first difference between two values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// Keys and positions, the innermost first.
    path: Vec<String>,
    problem: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.problem);
        }
        f.write_str("at ")?;
        for key in self.path.iter().rev() {
            f.write_str(key)?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl Pattern {
    /// Compares a JSON value with the expected one.
    ///
    /// # Errors
    /// The first difference.
    pub(super) fn compare(&self, found: &Value) -> Result<(), Difference> {
        match self {
            Self::Any => Ok(()),
            Self::Text(text) => compare(&Value::String(text.clone()), found, false),
            Self::Json { value, is_partial } => compare(value, found, *is_partial),
        }
    }
}

fn compare(expected: &Value, found: &Value, is_partial: bool) -> Result<(), Difference> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, expected) in expected {
                match found.get(key) {
                    Some(found) => compare(expected, found, is_partial)
                        .map_err(|difference| difference.within(format!(".{key}")))?,
                    None => return Err(Difference::new("is missing").within(format!(".{key}"))),
                }
            }
            match found.keys().find(|key| !expected.contains_key(*key)) {
                Some(key) if !is_partial => {
                    Err(Difference::new("was not expected").within(format!(".{key}")))
                }
                _ => Ok(()),
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            if expected.len() != found.len() {
                let problem = format!("expected {} items, got {}", expected.len(), found.len());
                return Err(Difference::new(problem));
            }
            for (position, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(expected, found, is_partial)
                    .map_err(|difference| difference.within(format!("[{position}]")))?;
            }
            Ok(())
        }
        _ if is_same(expected, found) => Ok(()),
        _ => Err(Difference::new(format!("expected {expected}, got {found}"))),
    }
}

/// Whether two values are equal. 1 and 1.0 are; two whole numbers are compared as such, also over 2^53.
fn is_same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(expected), Value::Number(found)) if expected.is_f64() || found.is_f64() => {
            expected.as_f64() == found.as_f64()
        }
        _ => expected == found,
    }
}

impl Difference {
    fn new(problem: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            problem: problem.into(),
        }
    }

    fn within(mut self, key: String) -> Self {
        self.path.push(key);
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(expected: &Value, found: &Value, exact: &str, partial: &str) {
        for (is_partial, outcome) in [(false, exact), (true, partial)] {
            let value = expected.clone();
            let compared = Pattern::Json { value, is_partial }.compare(found);
            let told = compared.map_or_else(|difference| difference.to_string(), |()| "same".to_owned());
            assert_eq!(told, outcome, "{expected} and {found}, partial: {is_partial}");
        }
    }

    #[test]
    fn exact_is_exact_in_both_directions_and_partial_in_one() {
        let message = json!({ "type": "echo", "n": 1, "deep": { "list": [1, { "a": null, "b": 2 }] } });
        check(&message, &message, "same", "same");
        check(&json!({}), &message, "at .type: was not expected", "same");
        check(
            &json!({ "deep": { "list": [1, { "b": 2 }] } }),
            &message,
            "at .deep.list[1].a: was not expected",
            "same",
        );
        let missing = "at .more: is missing";
        check(&json!({ "more": 1 }), &message, missing, missing);
        let other = "at .n: expected 2, got 1";
        check(&json!({ "n": 2 }), &message, other, other);
        let items = "at .deep.list: expected 1 items, got 2";
        check(&json!({ "deep": { "list": [1] } }), &message, items, items);
        let kind = "expected [], got {\"a\":1}";
        check(&json!([]), &json!({ "a": 1 }), kind, kind);
        check(&json!(1.0), &json!(1), "same", "same");
        let big = "expected 9007199254740993, got 9007199254740992";
        check(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992_u64),
            big,
            big,
        );
        let text = "expected 1, got \"1\"";
        check(&json!(1), &json!("1"), text, text);
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[a-c]{0,2}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map("[a-c]", inner, 0..4)
                    .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    /// `value` with one more key in the object at `depth`, if there is one.
    fn with_more(value: &Value) -> Option<Value> {
        let mut more = value.clone();
        more.as_object_mut()?.insert("more".to_owned(), Value::Null);
        Some(more)
    }

    proptest! {
        #[test]
        fn exact_is_equality(expected in any_value(), found in any_value()) {
            let same = |value: &Value, found: &Value, is_partial| {
                Pattern::Json { value: value.clone(), is_partial }.compare(found).is_ok()
            };
            prop_assert!(same(&expected, &expected, false));
            prop_assert_eq!(same(&expected, &found, false), expected == found);
            // Two are equal exactly when each is a part of the other.
            let both = same(&expected, &found, true) && same(&found, &expected, true);
            prop_assert_eq!(both, expected == found);
            if let Some(more) = with_more(&found) {
                prop_assert!(same(&found, &more, true));
                prop_assert!(!same(&found, &more, false));
                prop_assert!(!same(&more, &found, true));
            }
        }
    }
}
