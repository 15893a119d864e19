//! Decides which web pages may connect: compares the `Origin` of a request with a list, and makes the CORS headers for
//! browsers.

use std::str::FromStr;

use http::{HeaderMap, HeaderValue, header};

/// The request headers that a page's script may send across origins: tokens, JSON, and the last event's id.
const ALLOWED_HEADERS: HeaderValue =
    HeaderValue::from_static("Authorization, Content-Type, Last-Event-ID, X-Request-ID");
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, OPTIONS");

/// The hosts whose pages may connect. An empty list, the default, allows all.
///
/// The list protects people with a browser from pages that would use their cookies. Programs can send any origin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedOrigins {
    hosts: Vec<Host>,
}

/// One entry of the list, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// A host, with its port unless that is the default port of the scheme.
    Exact(String),
    /// The end of a host; written with a `*` in front.
    Suffix(String),
}

/// A text that is not a list of origins.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{entry:?} is not a host; expected the part between // and / of the page's address, for example \
     app.example.com,localhost:3000,*.example.org"
)]
pub struct OriginError {
    entry: String,
}

impl AllowedOrigins {
    /// Whether a request with this `Origin` header may go on. A request without the header may only while the list is
    /// empty, as with AnyCable (docs/protocols/cable.md, Connecting).
    pub fn allows(&self, origin: Option<&str>) -> bool {
        self.hosts.is_empty() || origin.is_some_and(|origin| self.lists(origin))
    }

    /// Whether the list is empty, so that every page may connect.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The headers that let pages of allowed origins read an HTTP answer, also one to a preflight request. With a list,
    /// allowed pages may also send cookies. Without a list any page may read, but not with a person's cookies.
    pub fn cors_headers(&self, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.hosts.is_empty() {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        } else {
            // A cache must not give one page the answer to another.
            headers.insert(header::VARY, HeaderValue::from_static("Origin"));
            let allowed = origin.filter(|origin| self.lists(origin));
            let Some(Ok(origin)) = allowed.map(HeaderValue::from_str) else {
                return headers;
            };
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(
                header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
                HeaderValue::from_static("true"),
            );
        }
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
        headers
    }

    /// Whether the list names this origin. An empty list names none.
    pub(crate) fn lists(&self, origin: &str) -> bool {
        // `null`, the origin of sandboxed pages and files, has no host (RFC 6454 §7).
        let Some((_scheme, host)) = origin.split_once("://") else {
            return false;
        };
        let host = host.to_ascii_lowercase();
        self.hosts.iter().any(|allowed| match allowed {
            Host::Exact(name) => host == *name,
            Host::Suffix(suffix) => host.ends_with(suffix),
        })
    }
}

/// Parses a list with commas. An entry is a host with its port, or `*` and the end of a host.
impl FromStr for AllowedOrigins {
    type Err = OriginError;

    fn from_str(list: &str) -> Result<Self, OriginError> {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let hosts = entries.map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { hosts })
    }
}

impl FromStr for Host {
    type Err = OriginError;

    fn from_str(entry: &str) -> Result<Self, OriginError> {
        let (is_suffix, host) = match entry.strip_prefix('*') {
            Some(suffix) => (true, suffix),
            None => (false, entry),
        };
        if host.contains(|c: char| c.is_whitespace() || c == '*' || c == '/') {
            return Err(OriginError {
                entry: entry.to_owned(),
            });
        }
        let host = host.to_ascii_lowercase();
        Ok(if is_suffix {
            Self::Suffix(host)
        } else {
            Self::Exact(host)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> AllowedOrigins {
        text.parse().expect(text)
    }

    #[track_caller]
    fn check(allowed: &str, origin: Option<&str>, expected: bool) {
        assert_eq!(list(allowed).allows(origin), expected, "{allowed:?} {origin:?}");
    }

    #[test]
    fn an_empty_list_allows_everybody() {
        check("", None, true);
        check(" , ", Some("https://evil.example"), true);
        check("", Some("null"), true);
    }

    #[test]
    fn host_and_port_must_be_the_same() {
        const LIST: &str = "app.example.com, localhost:3000,[::1]:3000";
        check(LIST, Some("https://app.example.com"), true);
        check(LIST, Some("http://APP.example.com"), true);
        check(LIST, Some("http://localhost:3000"), true);
        check(LIST, Some("http://[::1]:3000"), true);
        check(LIST, Some("https://app.example.com:8443"), false);
        check(LIST, Some("https://app.example.com.evil.example"), false);
        check(LIST, Some("https://evil.example/app.example.com"), false);
        check(LIST, Some("http://localhost"), false);
        check(LIST, Some("app.example.com"), false);
        check(LIST, Some("null"), false);
        check(LIST, Some(""), false);
        check(LIST, None, false);
    }

    #[test]
    fn a_star_stands_for_any_beginning() {
        check("*.example.com", Some("https://a.b.example.com"), true);
        check("*.Example.com", Some("https://a.EXAMPLE.com"), true);
        check("*.example.com", Some("https://example.com"), false);
        check("*.example.com", Some("https://a.example.com:8443"), false);
        check("*.example.com", Some("https://badexample.com"), false);
        check("*", Some("https://anything.example"), true);
        check("*", None, false);
    }

    #[test]
    fn an_entry_that_could_never_match_is_an_error() {
        for entry in ["https://app.example.com", "app.example.com/", "a.*.com", "**"] {
            let error = AllowedOrigins::from_str(&format!("localhost,{entry}")).expect_err(entry);
            assert_eq!(error.entry, entry);
        }
    }

    #[track_caller]
    fn check_cors(allowed: &str, origin: Option<&str>, expected: &str) {
        let headers = list(allowed).cors_headers(origin);
        let value = |name| {
            headers
                .get(name)
                .map_or("-", |value| value.to_str().expect("text"))
        };
        let got = [
            value(header::ACCESS_CONTROL_ALLOW_ORIGIN),
            value(header::ACCESS_CONTROL_ALLOW_CREDENTIALS),
            value(header::ACCESS_CONTROL_ALLOW_METHODS),
            value(header::VARY),
        ];
        assert_eq!(got.join("; "), expected, "{allowed:?} {origin:?}");
    }

    #[test]
    fn browsers_are_told_who_may_read() {
        check_cors("", Some("https://any.example"), "*; -; GET, POST, OPTIONS; -");
        check_cors("", None, "*; -; GET, POST, OPTIONS; -");
        check_cors(
            "*.example",
            Some("https://a.example"),
            "https://a.example; true; GET, POST, OPTIONS; Origin",
        );
        check_cors("*.example", Some("https://evil.org"), "-; -; -; Origin");
        check_cors("*.example", None, "-; -; -; Origin");
    }
}
