//! Figures of each endpoint: Artillery's plugin `metrics-by-endpoint`.

use std::{borrow::Cow, time::Duration};

use plimsoll_clients::http::{Exchange, Url};
use plimsoll_load::metrics::Recorder;

use super::Failure;

const PREFIX: &str = "plugins.metrics-by-endpoint";

/// The plugin's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grouping {
    /// Whether a named request uses its name alone, without its URL.
    pub(crate) uses_only_names: bool,
    /// Whether queries are removed from URLs.
    pub(crate) strips_query: bool,
    /// Whether unnamed requests are not listed.
    pub(crate) ignores_unnamed: bool,
    /// Whether URLs are grouped as in the file, with their templates, and not as sent.
    pub(crate) groups_dynamic_urls: bool,
    /// Whether its figures are in the JSON report only.
    pub(crate) is_quiet: bool,
    /// Requests to it go by their path.
    pub(crate) target: String,
}

/// The name for the figures of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// A constant name.
    Fixed(Names),
    /// By the URL that was sent, and perhaps a name.
    OfUrl {
        grouping: Box<Grouping>,
        name: Option<String>,
    },
}

/// The names of the metrics of one endpoint. Requests of a constant name share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    /// Before the status of an answer.
    codes: String,
    /// Before the error of a request without an answer.
    errors: String,
    response_time: String,
    server_timing: String,
}

impl Names {
    fn of(endpoint: &str) -> Self {
        Self {
            codes: format!("{PREFIX}.{endpoint}.codes"),
            errors: format!("{PREFIX}.{endpoint}.errors"),
            response_time: format!("{PREFIX}.response_time.{endpoint}"),
            server_timing: format!("{PREFIX}.server-timing.{endpoint}"),
        }
    }
}

impl Grouping {
    /// The settings that Artillery uses if a file has none.
    pub(crate) fn unasked() -> Self {
        Self {
            uses_only_names: false,
            strips_query: true,
            ignores_unnamed: false,
            groups_dynamic_urls: true,
            is_quiet: true,
            target: String::new(),
        }
    }

    /// The endpoint of a request with this URL. `None` if it is not listed.
    pub(crate) fn endpoint(&self, url: &str, name: Option<&str>) -> Option<Endpoint> {
        if name.is_none() && self.ignores_unnamed {
            return None;
        }
        if self.groups_dynamic_urls || (self.uses_only_names && name.is_some()) {
            return Some(Endpoint::Fixed(Names::of(&self.name(url, name))));
        }
        Some(Endpoint::OfUrl {
            grouping: Box::new(self.clone()),
            name: name.map(str::to_owned),
        })
    }

    fn name(&self, url: &str, name: Option<&str>) -> String {
        match name {
            Some(name) if self.uses_only_names => name.to_owned(),
            Some(name) => format!("{} ({name})", self.place(url)),
            None => self.place(url).into_owned(),
        }
    }

    /// The path, with host and port if they differ from the target's.
    fn place<'a>(&self, url: &'a str) -> Cow<'a, str> {
        let url = match url.split_once(if self.strips_query { '?' } else { '#' }) {
            Some((url, _)) => url,
            None => url,
        };
        let Some((authority, path)) = split(url) else {
            // The target's own path is part of the endpoint.
            let base = split(&self.target).map_or("", |(_, path)| path.trim_end_matches('/'));
            return if url.starts_with('/') && !base.is_empty() {
                format!("{base}{url}").into()
            } else {
                url.into()
            };
        };
        let path = if path.is_empty() { "/" } else { path };
        let (host, port) = host_and_port(authority);
        let (own_host, own_port) = split(&self.target).map_or(("", None), |(own, _)| host_and_port(own));
        let host = if host == own_host { "" } else { host };
        match port.filter(|port| Some(*port) != own_port) {
            Some(port) => format!("{host}:{port}{path}").into(),
            None if host.is_empty() => Cow::Owned(path.to_owned()),
            None => format!("{host}{path}").into(),
        }
    }
}

/// The authority of a URL, and the rest.
fn split(url: &str) -> Option<(&str, &str)> {
    let (_, rest) = url.split_once("://")?;
    Some(rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())))
}

fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, authority)| authority);
    match authority.rsplit_once(':') {
        // Not within the brackets of an IPv6 address.
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

impl Endpoint {
    /// Records the last exchange of a request to `url`.
    pub(crate) fn record(&self, url: &Url, exchange: &Exchange, recorder: &Recorder) {
        let names = self.names(url);
        let response = match &exchange.outcome {
            Ok(response) => response,
            Err(error) => return self.record_failure(url, &Failure::from(error), recorder),
        };
        recorder.tally(&format!("{}.{}", names.codes, response.status), 1);
        let time = exchange.timings.sending + exchange.timings.waiting;
        recorder.time(&names.response_time, time);
        let field = response.headers.get("server-timing");
        if let Some(ms) = field.and_then(|field| server_total(str::from_utf8(field).ok()?)) {
            // A time that does not fit into a duration is not a real one.
            if let Ok(time) = Duration::try_from_secs_f64(ms.max(0.0) / 1e3) {
                recorder.time(&names.server_timing, time);
            }
        }
    }

    /// Counts a request without an answer.
    pub(crate) fn record_failure(&self, url: &Url, failure: &Failure, recorder: &Recorder) {
        recorder.tally(&format!("{}.{failure}", self.names(url).errors), 1);
    }

    fn names(&self, url: &Url) -> Cow<'_, Names> {
        match self {
            Self::Fixed(names) => Cow::Borrowed(names),
            Self::OfUrl { grouping, name } => {
                Cow::Owned(Names::of(&grouping.name(url.as_str(), name.as_deref())))
            }
        }
    }
}

/// The milliseconds of `total;dur=…` in a field `Server-Timing`.
fn server_total(field: &str) -> Option<f64> {
    let metrics = field.split(',').map(str::trim);
    let total = metrics
        .filter_map(|metric| metric.strip_prefix("total;"))
        .next()?;
    let dur = total.split(';').find_map(|it| it.trim().strip_prefix("dur="))?;
    dur.trim_matches('"')
        .parse()
        .ok()
        .filter(|ms: &f64| ms.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouping() -> Grouping {
        Grouping {
            uses_only_names: false,
            strips_query: false,
            ignores_unnamed: false,
            groups_dynamic_urls: true,
            is_quiet: false,
            target: "http://h:8080/base".to_owned(),
        }
    }

    #[test]
    fn endpoints_have_names() {
        let check = |grouping: &Grouping, url: &str, name: Option<&str>, expected: Option<&str>| {
            let endpoint = grouping.endpoint(url, name);
            let expected = expected.map(|expected| Endpoint::Fixed(Names::of(expected)));
            assert_eq!(endpoint, expected, "{url} {name:?}");
        };
        let usual = grouping();
        // As in Artillery, with the path of the target.
        check(
            &usual,
            "/users/{{ id }}?a=1",
            None,
            Some("/base/users/{{ id }}?a=1"),
        );
        check(&usual, "/a", Some("list"), Some("/base/a (list)"));
        check(&usual, "http://h:8080/a", None, Some("/a"));
        check(&usual, "https://other/a?b=c", None, Some("other/a?b=c"));
        check(&usual, "http://h:9090", None, Some(":9090/"));
        check(&usual, "http://u:p@[::1]:1/x", None, Some("[::1]:1/x"));
        let stripped = Grouping {
            strips_query: true,
            uses_only_names: true,
            ..grouping()
        };
        check(&stripped, "/a?b=c", None, Some("/base/a"));
        check(&stripped, "/a?b=c", Some("list"), Some("list"));
        let named = Grouping {
            ignores_unnamed: true,
            ..grouping()
        };
        check(&named, "/a", None, None);
        check(&named, "/a", Some("list"), Some("/base/a (list)"));
    }

    #[test]
    fn urls_may_count_as_they_were_sent() {
        let sent = Grouping {
            groups_dynamic_urls: false,
            ..grouping()
        };
        let of_url = Endpoint::OfUrl {
            grouping: Box::new(sent.clone()),
            name: None,
        };
        assert_eq!(sent.endpoint("/users/{{ id }}", None), Some(of_url));
        assert_eq!(sent.name("http://h:8080/users/7", None), "/users/7");
    }

    #[test]
    fn servers_say_how_long_they_took() {
        for (field, expected) in [
            ("total;dur=12.5", Some(12.5)),
            ("db;dur=3, total;desc=\"all\";dur=7", Some(7.0)),
            ("db;dur=3", None),
            ("total;dur=soon", None),
        ] {
            assert_eq!(server_total(field), expected, "{field}");
        }
    }
}
