//! Values taken from an answer: `capture` and `match`.

use std::{cell::OnceCell, sync::Arc};

use plimsoll_clients::http::Headers;
use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;

use super::{
    selector::{Position, Selector},
    template::JsonTemplate,
    variables::Variables,
};

/// A part of an answer that becomes a variable.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    pub(crate) source: Source,
    /// The variable.
    pub(crate) name: String,
    /// Whether the user fails if there is no such part.
    pub(crate) is_strict: bool,
}

/// A part of an answer that must have a given value.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(crate) source: Source,
    pub(crate) value: JsonTemplate,
}

/// The position of a part of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The values that a JSONPath (RFC 9535) selects. A body that is no list or map has no parts.
    Json {
        path: JsonPath,
        /// Whether one of several values is taken at random. Otherwise all of them, as a list if the path may select
        /// several.
        takes_any: bool,
        /// Whether the path may select several.
        is_plural: bool,
    },
    /// The match of a regular expression, or one of its groups.
    Regexp { regex: Regex, group: Group },
    /// A header field. WebSocket messages have none.
    Header(String),
    /// A part of a page.
    Page {
        selector: Arc<dyn Selector>,
        position: Position,
        attribute: Option<String>,
    },
}

/// A group of a regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Number(usize),
    Name(String),
}

/// An answer. Its JSON is parsed once, at its first use.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    body: &'a [u8],
    headers: Option<&'a Headers>,
    json: OnceCell<Value>,
}

/// Why an answer does not match. The text is free of values, so that equal failures are counted together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Failed capture or match")]
pub(crate) struct MismatchError;

impl<'a> Answer<'a> {
    pub(crate) fn new(body: &'a [u8], headers: Option<&'a Headers>) -> Self {
        Self {
            body,
            headers,
            json: OnceCell::new(),
        }
    }

    /// The body, if it is a list or a map in JSON.
    pub(crate) fn tree(&self) -> Option<&Value> {
        Some(self.json()).filter(|value| value.is_array() || value.is_object())
    }

    /// The body as JSON, or as one text.
    pub(crate) fn json(&self) -> &Value {
        let text = || Value::String(String::from_utf8_lossy(self.body).into_owned());
        self.json
            .get_or_init(|| serde_json::from_slice(self.body).unwrap_or_else(|_| text()))
    }
}

impl Source {
    /// The part of an answer. `None` if it is missing or an empty text.
    pub(crate) fn find(&self, answer: &Answer<'_>) -> Option<Value> {
        let found = match self {
            Self::Json {
                path,
                takes_any,
                is_plural,
            } => {
                let found = path.query(answer.tree()?).all();
                if *takes_any {
                    fastrand::choice(found).cloned()
                } else if *is_plural {
                    (!found.is_empty()).then(|| found.into_iter().cloned().collect())
                } else {
                    found.first().map(|&value| value.clone())
                }
            }
            Self::Regexp { regex, group } => {
                let captures = regex.captures(answer.body)?;
                let found = match group {
                    Group::Number(number) => captures.get(*number),
                    Group::Name(name) => captures.name(name),
                };
                // As in Artillery, the whole match stands for a missing group.
                let found = found.or_else(|| captures.get(0));
                found.map(|found| String::from_utf8_lossy(found.as_bytes()).into_owned().into())
            }
            Self::Page {
                selector,
                position,
                attribute,
            } => {
                let page = String::from_utf8_lossy(answer.body);
                let found = selector.find(&page, *position, attribute.as_deref());
                found.map(Value::from)
            }
            Self::Header(name) => answer.headers?.text(name).map(Value::from),
        };
        found.filter(|value| value.as_str() != Some(""))
    }
}

/// Whether an answer has all required values.
pub(crate) fn has_all(matches: &[Match], answer: &Answer<'_>, variables: &Variables) -> bool {
    matches.iter().all(|wanted| {
        let found = wanted.source.find(answer);
        found.is_some_and(|found| are_identical(&found, &wanted.value.value(variables)))
    })
}

/// Whether two values have one type and are equal, as JavaScript's `===` has it. Lists and maps are compared by their
/// contents, because there nothing else could be equal.
fn are_identical(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Number(found), Value::Number(wanted)) => found.as_f64() == wanted.as_f64(),
        _ => found == wanted,
    }
}

/// Sets variables from an answer, all of them or none.
///
/// # Errors
/// A required part is missing.
pub(crate) fn take(
    captures: &[Capture],
    answer: &Answer<'_>,
    variables: &mut Variables,
) -> Result<(), MismatchError> {
    let found = captures
        .iter()
        .map(|capture| (capture, capture.source.find(answer)));
    let found: Vec<_> = found.collect();
    if found
        .iter()
        .any(|(capture, value)| capture.is_strict && value.is_none())
    {
        return Err(MismatchError);
    }
    for (capture, value) in found {
        match value {
            Some(value) => variables.set(&capture.name, value),
            None => variables.unset(&capture.name),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn json(path: &str) -> Source {
        Source::Json {
            path: JsonPath::parse(path).unwrap(),
            takes_any: true,
            is_plural: false,
        }
    }

    fn regexp(regex: &str, group: Group) -> Source {
        Source::Regexp {
            regex: Regex::new(regex).unwrap(),
            group,
        }
    }

    #[test]
    fn parts_are_found() {
        let check = |source: Source, body: &str, expected: Option<Value>| {
            assert_eq!(
                source.find(&Answer::new(body.as_bytes(), None)),
                expected,
                "{source:?} {body}"
            );
        };
        let body = r#"{"id": 7, "user": {"name": "A"}, "list": [{"x": 1}], "none": null, "empty": ""}"#;
        check(json("$.id"), body, Some(json!(7)));
        check(json("$.user"), body, Some(json!({"name": "A"})));
        check(json("$.list[0].x"), body, Some(json!(1)));
        check(json("$..name"), body, Some(json!("A")));
        check(json("$.list[?@.x == 1].x"), body, Some(json!(1)));
        check(json("$.none"), body, Some(json!(null)));
        check(json("$.empty"), body, None);
        check(json("$.other"), body, None);
        check(json("$"), "no json", None);
        check(json("$"), "5", None);
        check(regexp("name\": \"(.)", Group::Number(1)), body, Some(json!("A")));
        check(
            regexp("(?<number>[0-9]+)", Group::Name("number".into())),
            body,
            Some(json!("7")),
        );
        check(regexp("[0-9]+", Group::Number(3)), body, Some(json!("7")));
        check(Source::Header("x".into()), body, None);
    }

    #[test]
    fn captures_are_all_or_nothing() {
        let mut variables = Variables::new(Arc::default());
        let capture = |path, name: &str, is_strict| Capture {
            source: json(path),
            name: name.to_owned(),
            is_strict,
        };
        let answer = Answer::new(br#"{"a": 1}"#, None);
        let captures = [capture("$.a", "a", true), capture("$.b", "b", true)];
        assert_eq!(take(&captures, &answer, &mut variables), Err(MismatchError));
        assert_eq!(variables.get("a"), None);
        let captures = [capture("$.a", "a", true), capture("$.b", "b", false)];
        assert_eq!(take(&captures, &answer, &mut variables), Ok(()));
        assert_eq!((variables.get("a"), variables.get("b")), (Some(&json!(1)), None));
    }

    #[test]
    fn matches_compare_types_and_values() {
        let variables = Variables::new(Arc::default());
        let check = |path, value: Value, expected| {
            let wanted = Match {
                source: json(path),
                value: JsonTemplate::parse(&value).unwrap(),
            };
            let answer = Answer::new(br#"{"n": 1, "t": "x", "b": true, "o": {"a": 1}}"#, None);
            assert_eq!(
                has_all(&[wanted], &answer, &variables),
                expected,
                "{path} {value}"
            );
        };
        check("$.n", json!(1), true);
        check("$.n", json!(1.0), true);
        check("$.n", json!("1"), false);
        check("$.n", json!(2), false);
        check("$.t", json!("x"), true);
        check("$.b", json!("true"), false);
        check("$.o", json!({"a": 1}), true);
        check("$.o", json!({"a": 2}), false);
        check("$.absent", json!(null), false);
    }
}
