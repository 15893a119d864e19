//! Expectations on an answer: Artillery's plugin `expect`. They do not affect the user; the run's exit code reports
//! them.

use std::borrow::Cow;

use plimsoll_clients::http::Response;
use regex::bytes::Regex;
use serde_json::Value;

use super::Query;
use crate::artillery::{
    capture::Answer,
    condition::are_equal,
    template::{JsonTemplate, Template},
    variables::{Variables, text_of},
};

/// One expectation.
#[derive(Clone, Debug)]
pub(crate) enum Expectation {
    /// One of these.
    StatusCode(Vec<JsonTemplate>),
    /// None of these.
    NotStatusCode(Vec<JsonTemplate>),
    /// `json`, or a media type.
    ContentType(Template),
    HasProperty(Template),
    NotHasProperty(Template),
    /// All of these are equal.
    Equals(Vec<JsonTemplate>),
    HasHeader(Template),
    HeaderEquals(Template, Template),
    MatchesRegexp(Regex),
    /// Whether a cache in front of the server had the answer.
    CdnHit(bool),
    /// JMESPath, under one of its two names.
    Jmespath(&'static str, Query),
}

/// Media types whose bodies the plugin parses.
const JSON_TYPES: [&str; 3] = [
    "application/json",
    "application/problem+json",
    "application/ld+json",
];

/// Header fields of caches in front of servers.
const CACHE_FIELDS: [&str; 3] = ["cf-cache-status", "x-cache", "x-vercel-cache"];

impl Expectation {
    /// Artillery's name of it.
    pub(crate) fn name(&self, variables: &Variables) -> Cow<'static, str> {
        let name = match self {
            Self::HeaderEquals(name, _) => {
                return format!("header {} values equals", name.render(variables)).into();
            }
            Self::StatusCode(_) => "statusCode",
            Self::NotStatusCode(_) => "notStatusCode",
            Self::ContentType(_) => "contentType",
            Self::HasProperty(_) => "hasProperty",
            Self::NotHasProperty(_) => "notHasProperty",
            Self::Equals(_) => "equals",
            Self::HasHeader(_) => "hasHeader",
            Self::MatchesRegexp(_) => "matchesRegexp",
            Self::CdnHit(_) => "cdnHit",
            Self::Jmespath(name, _) => *name,
        };
        name.into()
    }

    pub(crate) fn holds(&self, response: &Response, answer: &Answer<'_>, variables: &Variables) -> bool {
        let header = |name: &Template| response.headers.text(&name.render(variables)).map(str::to_owned);
        let is_status = |codes: &[JsonTemplate]| {
            let status = Value::from(response.status);
            codes
                .iter()
                .any(|code| are_equal(&code.value(variables), &status))
        };
        match self {
            Self::StatusCode(codes) => is_status(codes),
            Self::NotStatusCode(codes) => !is_status(codes),
            Self::ContentType(wanted) => {
                let found = response.headers.text("content-type").unwrap_or_default();
                match &*wanted.render(variables) {
                    "json" => tree(response, answer).is_some(),
                    wanted => found.eq_ignore_ascii_case(wanted),
                }
            }
            Self::HasProperty(path) => has_property(answer.json(), &path.render(variables)),
            Self::NotHasProperty(path) => !has_property(answer.json(), &path.render(variables)),
            Self::Equals(values) => {
                let values: Vec<_> = values
                    .iter()
                    .map(|value| text_of(&value.value(variables)))
                    .collect();
                values.windows(2).all(|pair| pair[0] == pair[1])
            }
            Self::HasHeader(name) => header(name).is_some(),
            Self::HeaderEquals(name, value) => {
                header(name).is_some_and(|found| found == value.render(variables))
            }
            Self::MatchesRegexp(regex) => regex.is_match(&response.body),
            Self::CdnHit(is_hit) => {
                let wanted: &[&str] = if *is_hit { &["hit", "stale"] } else { &["miss"] };
                let fields = CACHE_FIELDS.iter().filter_map(|name| response.headers.text(name));
                let mut fields = fields.map(str::to_ascii_lowercase);
                fields.any(|value| wanted.iter().any(|word| value.starts_with(word)))
            }
            Self::Jmespath(_, query) => tree(response, answer).is_some_and(|value| query.holds(value)),
        }
    }
}

/// The body, if it is a list or a map and the answer says that it is JSON.
fn tree<'a>(response: &Response, answer: &'a Answer<'_>) -> Option<&'a Value> {
    let found = response.headers.text("content-type")?;
    let is_json = JSON_TYPES.iter().any(|name| found.contains(name));
    answer.tree().filter(|_| is_json)
}

/// Whether there is a value at the end of a path such as `user.ids[0]`.
fn has_property(value: &Value, path: &str) -> bool {
    let keys = path.split(['.', '[', ']']).filter(|key| !key.is_empty());
    let found = keys.into_iter().try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key.trim_matches(['\'', '"'])),
    });
    found.is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_are_found_by_their_paths() {
        let value = json!({"a": {"b": [1, {"c": null}]}});
        for (path, expected) in [
            ("a", true),
            ("a.b[0]", true),
            ("a.b[1].c", true),
            ("a['b'][1]", true),
            ("a.b[2]", false),
            ("a.x", false),
            ("a.b.0", true),
        ] {
            assert_eq!(has_property(&value, path), expected, "{path}");
        }
    }
}
