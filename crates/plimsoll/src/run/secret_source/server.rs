//! The description of a server that gives secrets: k6's source `url`. Variables of the environment lie under a file, and
//! both under the flag.

use std::{collections::BTreeMap, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use plimsoll_load::plan::parse_duration;
use plimsoll_script::SecretServerSettings;
use serde::Deserialize;

use crate::surroundings::Surroundings;

/// Before the name of a setting in the environment.
const PREFIX: &str = "K6_SECRET_SOURCE_URL_";

/// The variables and their keys, without those of headers.
const VARIABLES: [(&str, &str); 8] = [
    ("URL_TEMPLATE", "urlTemplate"),
    ("METHOD", "method"),
    ("RESPONSE_PATH", "responsePath"),
    ("TIMEOUT", "timeout"),
    ("MAX_RETRIES", "maxRetries"),
    ("RETRY_BACKOFF", "retryBackoff"),
    ("REQUESTS_PER_MINUTE_LIMIT", "requestsPerMinuteLimit"),
    ("REQUESTS_BURST", "requestsBurst"),
];

/// Settings of one place; those that it does not have come from another one.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Settings {
    url_template: Option<String>,
    method: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    response_path: Option<String>,
    requests_per_minute_limit: Option<u32>,
    requests_burst: Option<u32>,
    timeout: Option<String>,
    max_retries: Option<u32>,
    retry_backoff: Option<String>,
}

impl Settings {
    /// # Errors
    /// For people: the text is not such a description. Nothing of its values is in the error.
    pub(super) fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| {
            format!(
                "line {}, column {}: expected a JSON object with urlTemplate and perhaps method, headers, responsePath, \
                 timeout, requestsPerMinuteLimit, requestsBurst, maxRetries and retryBackoff",
                error.line(),
                error.column()
            )
        })
    }

    /// # Errors
    /// For people: a variable has a value of another kind.
    pub(super) fn from_variables(surroundings: &Surroundings<'_>) -> Result<Self, String> {
        let mut settings = Self::default();
        for (variable, key) in VARIABLES {
            let name = format!("{PREFIX}{variable}");
            if let Some(value) = surroundings.variable(&name) {
                settings
                    .set(key, value)
                    .map_err(|error| format!("{name}: {error}"))?;
            }
        }
        for (name, value) in &surroundings.environment {
            let header = name
                .to_str()
                .and_then(|name| name.strip_prefix(PREFIX)?.strip_prefix("HEADER_"));
            if let (Some(header), Some(value)) = (header, value.to_str()) {
                settings
                    .headers
                    .get_or_insert_default()
                    .insert(header.to_owned(), value.to_owned());
            }
        }
        Ok(settings)
    }

    /// # Errors
    /// For people: there is no such key, or its value is of another kind.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let text = || Some(value.to_owned());
        let number = || {
            let number = value.parse().map(Some);
            number.map_err(|_| format!("{key}: expected a whole number, for example {key}=10"))
        };
        match key {
            "urlTemplate" => self.url_template = text(),
            "method" => self.method = text(),
            "responsePath" => self.response_path = text(),
            "timeout" => self.timeout = text(),
            "retryBackoff" => self.retry_backoff = text(),
            "requestsPerMinuteLimit" => self.requests_per_minute_limit = number()?,
            "requestsBurst" => self.requests_burst = number()?,
            "maxRetries" => self.max_retries = number()?,
            _ => {
                let Some(header) = key.strip_prefix("headers.") else {
                    return Err(format!(
                        "a server of secrets has no `{key}`; expected config, urlTemplate, method, headers.NAME, \
                         responsePath, timeout, requestsPerMinuteLimit, requestsBurst, maxRetries or retryBackoff"
                    ));
                };
                let headers = self.headers.get_or_insert_default();
                headers.insert(header.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }

    /// `over` where it has a setting, and `self` elsewhere.
    pub(super) fn under(self, over: Self) -> Self {
        Self {
            url_template: over.url_template.or(self.url_template),
            method: over.method.or(self.method),
            headers: over.headers.or(self.headers),
            response_path: over.response_path.or(self.response_path),
            requests_per_minute_limit: over.requests_per_minute_limit.or(self.requests_per_minute_limit),
            requests_burst: over.requests_burst.or(self.requests_burst),
            timeout: over.timeout.or(self.timeout),
            max_retries: over.max_retries.or(self.max_retries),
            retry_backoff: over.retry_backoff.or(self.retry_backoff),
        }
    }

    /// The settings, with k6's defaults for those that are missing.
    ///
    /// # Errors
    /// For people: one is missing or cannot be used.
    pub(super) fn checked(self) -> Result<SecretServerSettings, String> {
        let url_template = self.url_template.filter(|url| !url.is_empty());
        let method = self.method.unwrap_or_else(|| "GET".to_owned());
        Ok(SecretServerSettings {
            url_template: url_template.ok_or(
                "urlTemplate is missing; expected something like url=urlTemplate=https://vault.example/secrets/{key}",
            )?,
            method: Method::from_bytes(method.as_bytes())
                .map_err(|_| "method: expected the name of an HTTP method, for example method=GET")?,
            headers: headers(self.headers.unwrap_or_default())?,
            response_path: path(&self.response_path.unwrap_or_default())?,
            timeout: duration("timeout", self.timeout, Duration::from_secs(30))?,
            requests_per_minute: positive("requestsPerMinuteLimit", self.requests_per_minute_limit, 300)?,
            requests_burst: positive("requestsBurst", self.requests_burst, 10)?,
            max_retries: self.max_retries.unwrap_or(3),
            retry_backoff: duration("retryBackoff", self.retry_backoff, Duration::from_secs(1))?,
        })
    }
}

fn headers(headers: BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let header = |(name, value): (String, String)| {
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| format!("headers.{name}: expected a value without line breaks"))?;
        value.set_sensitive(true);
        let expected = "expected the name of an HTTP header, for example headers.Authorization";
        let of_name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("headers.{name}: {expected}"))?;
        Ok((of_name, value))
    };
    headers.into_iter().map(header).collect()
}

fn path(text: &str) -> Result<Vec<String>, String> {
    if text.contains(['#', '|', '@', '*', '?', '\\', '!', '{', '[']) {
        return Err(
            "responsePath: expected keys and numbers of elements with points between them, for example data.0.value"
                .to_owned(),
        );
    }
    let steps = text.split('.').filter(|_| !text.is_empty());
    Ok(steps.map(str::to_owned).collect())
}

fn duration(key: &str, text: Option<String>, usual: Duration) -> Result<Duration, String> {
    let duration = text.map_or(Ok(usual), |text| parse_duration(&text));
    match duration {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(format!(
            "{key}: expected a duration greater than 0, for example {key}=10s"
        )),
    }
}

fn positive(key: &str, number: Option<u32>, usual: u32) -> Result<u32, String> {
    match number.unwrap_or(usual) {
        0 => Err(format!(
            "{key}: expected a number greater than 0, for example {key}={usual}"
        )),
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings as a text, or the error.
    fn checked(variables: &[(&str, &str)], file: &str, flag: &[(&str, &str)]) -> Result<String, String> {
        let mut of_flag = Settings::default();
        for (key, value) in flag {
            of_flag.set(key, value)?;
        }
        let settings = Settings::from_variables(&Surroundings::of_variables(variables))?
            .under(Settings::from_json(file)?)
            .under(of_flag)
            .checked()?;
        Ok(format!(
            "{} {} {:?} {:?} {:?} {}/{} {} {:?}",
            settings.method,
            settings.url_template,
            settings
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.to_str()))
                .collect::<Vec<_>>(),
            settings.response_path,
            settings.timeout,
            settings.requests_burst,
            settings.requests_per_minute,
            settings.max_retries,
            settings.retry_backoff,
        ))
    }

    #[test]
    fn the_flag_lies_over_the_file_and_both_over_the_environment() {
        let variables = [
            ("K6_SECRET_SOURCE_URL_URL_TEMPLATE", "http://a/{key}"),
            ("K6_SECRET_SOURCE_URL_METHOD", "POST"),
            ("K6_SECRET_SOURCE_URL_HEADER_AUTHORIZATION", "Bearer a"),
            ("K6_SECRET_SOURCE_URL_TIMEOUT", "5s"),
            ("K6_SECRET_SOURCE_URL_REQUESTS_BURST", ""),
        ];
        let file = r#"{"urlTemplate": "http://b/{key}", "responsePath": "data.0.v", "maxRetries": 1, "timeout": "7s"}"#;
        let flag = [
            ("urlTemplate", "http://c/{key}"),
            ("headers.X-Key", "k"),
            ("retryBackoff", "2s"),
        ];
        for (variables, file, flag, expected) in [
            (
                &variables[..],
                "{}",
                &[][..],
                r#"POST http://a/{key} [("authorization", Ok("Bearer a"))] [] 5s 10/300 3 1s"#,
            ),
            (
                &variables,
                file,
                &[],
                r#"POST http://b/{key} [("authorization", Ok("Bearer a"))] ["data", "0", "v"] 7s 10/300 1 1s"#,
            ),
            (
                &variables,
                file,
                &flag,
                r#"POST http://c/{key} [("x-key", Ok("k"))] ["data", "0", "v"] 7s 10/300 1 2s"#,
            ),
            (
                &[],
                "{}",
                &flag,
                r#"GET http://c/{key} [("x-key", Ok("k"))] [] 30s 10/300 3 2s"#,
            ),
        ] {
            assert_eq!(checked(variables, file, flag).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (file, flag, expected) in [
            ("{}", &[][..], "urlTemplate is missing"),
            (
                "{\"a\": 1}",
                &[],
                "line 1, column 4: expected a JSON object with urlTemplate",
            ),
            (
                "{}",
                &[("url", "x")],
                "a server of secrets has no `url`; expected config, urlTemplate",
            ),
            (
                "{}",
                &[("maxRetries", "many")],
                "maxRetries: expected a whole number",
            ),
            (
                "{}",
                &[("urlTemplate", "x"), ("timeout", "0s")],
                "timeout: expected a duration greater than 0",
            ),
            (
                "{}",
                &[("urlTemplate", "x"), ("requestsBurst", "0")],
                "requestsBurst: expected a number greater than 0",
            ),
            (
                "{}",
                &[("urlTemplate", "x"), ("method", "G ET")],
                "method: expected the name of an HTTP method",
            ),
            (
                "{}",
                &[("urlTemplate", "x"), ("headers.a b", "1")],
                "headers.a b: expected the name of an HTTP header",
            ),
            (
                "{}",
                &[("urlTemplate", "x"), ("responsePath", "a.#.b")],
                "responsePath: expected keys and numbers",
            ),
        ] {
            let found = checked(&[], file, flag).unwrap_err();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
