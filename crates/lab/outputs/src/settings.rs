//! Environment variables, read with errors that name the expected value.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use plimsoll_load::plan::parse_duration;

use crate::OutputError;

/// Stands for a value that is not shown.
pub(crate) const HIDDEN: &str = "***";

/// Reads variables by their names. If several are given, the first one that is set counts. An empty variable counts as
/// unset, as OpenTelemetry's specification requires.
#[derive(Clone, Copy)]
pub(crate) struct Settings<'a>(pub(crate) &'a dyn Fn(&str) -> Option<String>);

impl Settings<'_> {
    /// The first of these that is set, with its name.
    pub(crate) fn first<'n>(&self, names: &[&'n str]) -> Option<(&'n str, String)> {
        names.iter().find_map(|&name| {
            let value = (self.0)(name).filter(|value| !value.is_empty())?;
            Some((name, value))
        })
    }

    pub(crate) fn text(&self, names: &[&str]) -> Option<String> {
        self.first(names).map(|(_, value)| value)
    }

    /// The parsed value of the first variable that is set. `None` if none is. An error names the variable.
    pub(crate) fn read<T>(
        &self,
        names: &[&str],
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, OutputError> {
        let Some((name, value)) = self.first(names) else {
            return Ok(None);
        };
        match read(&value) {
            Some(found) => Ok(Some(found)),
            None => Err(OutputError::Variable {
                variable: name.to_owned(),
                expected: expected.to_owned(),
                value: plimsoll_redacted::url_with_query(&value).into_owned(),
            }),
        }
    }

    /// Like [`Settings::read`], but an error does not show the value.
    pub(crate) fn read_secret<T>(
        &self,
        names: &[&str],
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, OutputError> {
        self.read(names, expected, read)
            .map_err(OutputError::without_value)
    }

    /// The credentials of HTTP's basic authentication. `None` without a user.
    pub(crate) fn basic(&self, user: &str, password: &str) -> Option<HeaderValue> {
        let user = self.text(&[user])?;
        let both = format!("{user}:{}", self.text(&[password]).unwrap_or_default());
        secret(&format!("Basic {}", BASE64_STANDARD.encode(both)))
    }

    pub(crate) fn flag(&self, names: &[&str]) -> Result<bool, OutputError> {
        let read = |value: &str| match value.to_ascii_lowercase().as_str() {
            "true" | "1" | "t" => Some(true),
            "false" | "0" | "f" => Some(false),
            _ => None,
        };
        Ok(self.read(names, "`true` or `false`", read)?.unwrap_or(false))
    }

    /// A duration of at least a millisecond; a bare number is milliseconds.
    pub(crate) fn duration(&self, names: &[&str], default: Duration) -> Result<Duration, OutputError> {
        let read = |value: &str| {
            let duration = parse_duration(value).ok()?;
            (duration >= Duration::from_millis(1)).then_some(duration)
        };
        let found = self.read(names, "a duration such as `5s` or `500ms`", read)?;
        Ok(found.unwrap_or(default))
    }

    /// Parses `name=value,name=value`, with another separator between name and value if the variable has one.
    pub(crate) fn pairs(
        &self,
        names: &[&str],
        separator: char,
    ) -> Result<BTreeMap<String, String>, OutputError> {
        let read = |value: &str| {
            let pairs = value.split(',').filter(|pair| !pair.trim().is_empty());
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once(separator)?;
                    Some((name.trim().to_owned(), value.trim().to_owned()))
                })
                .collect()
        };
        let expected = format!("a list such as `one{separator}1,two{separator}2`");
        Ok(self.read(names, &expected, read)?.unwrap_or_default())
    }

    /// Pairs as headers of a request, with values that `decode` is applied to. An error does not show the values, of
    /// which some are secrets as a rule.
    pub(crate) fn headers(
        &self,
        names: &[&str],
        separator: char,
        decode: impl Fn(&str) -> String,
    ) -> Result<HeaderMap, OutputError> {
        let mut headers = HeaderMap::new();
        for (name, value) in self.pairs(names, separator).map_err(OutputError::without_value)? {
            let header = HeaderName::try_from(&name)
                .ok()
                .zip(HeaderValue::try_from(decode(&value)).ok());
            let (header, value) = header.ok_or_else(|| OutputError::Variable {
                variable: names.join(" or "),
                value: format!("{name}{separator}{HIDDEN}"),
                expected: format!("names and values of HTTP headers, such as `X-Scope-OrgID{separator}a`"),
            })?;
            headers.insert(header, value);
        }
        Ok(headers)
    }

    /// Refuses every value but one that changes nothing.
    pub(crate) fn allow_only(
        &self,
        names: &[&str],
        allowed: &str,
        instead: &'static str,
    ) -> Result<(), OutputError> {
        match self.first(names) {
            Some((name, value)) if value != allowed => Err(OutputError::Refused {
                variable: format!("{name}={value}"),
                instead,
            }),
            _ => Ok(()),
        }
    }

    /// Refuses what is not built by its name.
    pub(crate) fn refuse(&self, names: &[&str], instead: &'static str) -> Result<(), OutputError> {
        match self.first(names) {
            None => Ok(()),
            Some((name, _)) => Err(OutputError::Refused {
                variable: name.to_owned(),
                instead,
            }),
        }
    }
}

/// The value of a header field that no log shows.
pub(crate) fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// A URL of a server, without credentials, because it is shown to people.
pub(crate) fn http_url(text: &str) -> Option<Uri> {
    let url: Uri = text.parse().ok()?;
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    let authority = url.authority()?.as_str();
    let is_open = matches!(plimsoll_redacted::url(text), Cow::Borrowed(_));
    (is_http && !authority.is_empty() && is_open).then_some(url)
}
