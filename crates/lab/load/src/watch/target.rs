//! The argument of `--watch`: the place of the target, and perhaps a name for it.

use std::{fmt, path::PathBuf, str::FromStr};

/// The longest name of a target, in characters. Reason: it appears in tables and charts.
const MAX_NAME_CHARS: usize = 64;

/// What is watched, under a name for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `None` uses the name of the program, of the group, or of the host.
    pub name: Option<String>,
    /// Where it is.
    pub place: Place,
}

/// Where a target is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The process with this id, and its children.
    Process(u32),
    /// The processes that listen on this TCP port of this machine, and their children.
    Port(u16),
    /// The control group (cgroup v2) with this path, and the groups below it.
    Cgroup(PathBuf),
    /// A Prometheus endpoint.
    Metrics(Page),
}

/// A page of metrics, and its wanted metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// `http://…` or `https://…`, without a fragment.
    pub url: String,
    /// Names of metrics; a `*` at the end matches any rest. Empty for a choice that fits most servers.
    pub wanted: Vec<String>,
}

/// Why a text does not name a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseTargetError {
    /// The text after the colon is not a port.
    #[error("`{0}` is not a port; expected a colon and a number from 1 to 65535, for example `:8080`")]
    NotAPort(String),
    /// The text is not a valid target.
    #[error(
        "`{0}` is not a watch target; expected a process id such as `1234`, a listening port such as `:8080`, a \
         control group such as `cgroup:system.slice/puma.service`, or a Prometheus endpoint such as \
         `http://localhost:9090/metrics`, each with an optional name as in `web=:8080`"
    )]
    NotATarget(String),
    /// The text after `cgroup:` is empty.
    #[error("`cgroup:` has no group; expected a path, for example `cgroup:system.slice/puma.service`")]
    NoCgroup,
    /// The name before the first `=` cannot be shown.
    #[error(
        "`{0}` is not a name for a target; expected 1 to {MAX_NAME_CHARS} printable characters, for example `web=:8080`"
    )]
    NotAName(String),
    /// The text after the `#` of a URL names no metrics.
    #[error(
        "`#{0}` has no metric names; expected comma-separated names, with `*` at the end as a wildcard, for example \
         `#process_*,http_requests_total`"
    )]
    NotMetrics(String),
}

impl FromStr for Target {
    type Err = ParseTargetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A path or a URL may contain a `=`. Only text before a place's own first characters is a name.
        let is_place = [":", "cgroup:", "http://", "https://"]
            .iter()
            .any(|start| text.starts_with(start));
        let (name, place) = match text.split_once('=').filter(|_| !is_place) {
            Some((name, place)) => (Some(parse_name(name)?), place),
            None => (None, text),
        };
        let place = Place::parse(place)?;
        Ok(Self { name, place })
    }
}

impl Target {
    /// Its name, or else its place as it is typed, without secrets: `web`, `:8080`, `1234`.
    pub fn label(&self) -> String {
        match (&self.name, &self.place) {
            (Some(name), _) => name.clone(),
            (None, Place::Process(pid)) => pid.to_string(),
            (None, Place::Port(port)) => format!(":{port}"),
            (None, Place::Cgroup(path)) => format!("cgroup:{}", path.display()),
            (None, Place::Metrics(page)) => page.shown(),
        }
    }
}

impl From<Place> for Target {
    fn from(place: Place) -> Self {
        Self { name: None, place }
    }
}

fn parse_name(text: &str) -> Result<String, ParseTargetError> {
    let is_name = !text.trim().is_empty()
        && text.chars().count() <= MAX_NAME_CHARS
        && !text.chars().any(char::is_control);
    if is_name {
        Ok(text.trim().to_owned())
    } else {
        Err(ParseTargetError::NotAName(text.to_owned()))
    }
}

impl Place {
    fn parse(text: &str) -> Result<Self, ParseTargetError> {
        if let Some(port) = text.strip_prefix(':') {
            return match port.parse() {
                Ok(port) if port > 0 => Ok(Self::Port(port)),
                _ => Err(ParseTargetError::NotAPort(text.to_owned())),
            };
        }
        if let Some(path) = text.strip_prefix("cgroup:") {
            return match path {
                "" => Err(ParseTargetError::NoCgroup),
                _ => Ok(Self::Cgroup(path.into())),
            };
        }
        if text.starts_with("http://") || text.starts_with("https://") {
            return Page::parse(text).map(Self::Metrics);
        }
        match text.parse() {
            Ok(pid) if pid > 0 => Ok(Self::Process(pid)),
            _ => Err(ParseTargetError::NotATarget(text.to_owned())),
        }
    }
}

impl Page {
    /// The URL without user, password and tokens, for reports.
    pub(super) fn shown(&self) -> String {
        plimsoll_redacted::url_with_query(&self.url).replacen("***@", "", 1)
    }

    fn parse(text: &str) -> Result<Self, ParseTargetError> {
        let Some((url, wanted)) = text.split_once('#') else {
            return Ok(Self {
                url: text.to_owned(),
                wanted: Vec::new(),
            });
        };
        let wanted: Vec<String> = wanted.split(',').map(|name| name.trim().to_owned()).collect();
        if wanted.iter().all(|name| is_pattern(name)) {
            return Ok(Self {
                url: url.to_owned(),
                wanted,
            });
        }
        Err(ParseTargetError::NotMetrics(wanted.join(",")))
    }
}

fn is_pattern(text: &str) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
    let is_of_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | ':');
    !text.is_empty() && name.chars().all(is_of_name)
}

/// What is watched, in words: `process 123`, `port 8080`, `cgroup /a/b`, `metrics http://localhost:9090/metrics`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(pid) => write!(f, "process {pid}"),
            Self::Port(port) => write!(f, "port {port}"),
            Self::Cgroup(path) => write!(f, "cgroup {}", path.display()),
            Self::Metrics(page) => write!(f, "metrics {}", page.shown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, wanted: &[&str]) -> Place {
        Place::Metrics(Page {
            url: url.to_owned(),
            wanted: wanted.iter().map(|&name| name.to_owned()).collect(),
        })
    }

    #[test]
    fn reads_targets_with_and_without_names() {
        for (text, name, place) in [
            ("123", None, Place::Process(123)),
            ("rails=123", Some("rails"), Place::Process(123)),
            (":8080", None, Place::Port(8080)),
            ("web=:65535", Some("web"), Place::Port(65535)),
            ("cgroup:a/b=c", None, Place::Cgroup("a/b=c".into())),
            ("db =cgroup:/x", Some("db"), Place::Cgroup("/x".into())),
            ("http://h/metrics?a=b", None, page("http://h/metrics?a=b", &[])),
            (
                "cable=https://h:9/m#process_*,go_threads",
                Some("cable"),
                page("https://h:9/m", &["process_*", "go_threads"]),
            ),
        ] {
            let name = name.map(str::to_owned);
            assert_eq!(text.parse(), Ok(Target { name, place }), "{text}");
        }
    }

    #[test]
    fn says_what_is_watched_without_secrets() {
        for (text, expected) in [
            ("a=7", "process 7"),
            (":7", "port 7"),
            ("cgroup:a/b", "cgroup a/b"),
            ("http://h:9/m?x=a@b#c", "metrics http://h:9/m?x=a@b"),
            ("https://me:pass@word@h/m", "metrics https://h/m"),
            (
                "http://h/m?token=s3cret&a=b#c",
                "metrics http://h/m?token=***&a=b",
            ),
        ] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.place.to_string(), expected);
        }
    }

    #[test]
    fn labels_are_names_or_what_was_typed() {
        for (text, expected) in [
            ("web=:7", "web"),
            (":7", ":7"),
            ("4711", "4711"),
            ("cgroup:a/b", "cgroup:a/b"),
            ("http://h/m?token=s3cret#c", "http://h/m?token=***"),
        ] {
            assert_eq!(text.parse::<Target>().unwrap().label(), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_target_with_a_valid_example() {
        for (text, words) in [
            (":0", "for example `:8080`"),
            (":65536", "is not a port"),
            (":", "is not a port"),
            ("web=:http", "is not a port"),
            ("0", "a process id such as `1234`"),
            ("-1", "not a watch target"),
            ("", "not a watch target"),
            ("puma", "`web=:8080`"),
            ("web=", "not a watch target"),
            ("=:8080", "not a name"),
            ("a\u{7}=:8080", "not a name"),
            ("cgroup:", "for example `cgroup:"),
            ("http://h/m#", "has no metric names"),
            ("http://h/m#a,,b", "`#a,,b` has no metric names"),
            ("http://h/m#a*b", "has no metric names"),
        ] {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
