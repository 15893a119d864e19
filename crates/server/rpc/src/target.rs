//! The application's address from `--rpc_host`, which also decides the kind of RPC.

use std::{borrow::Cow, fmt, str::FromStr};

use http::Uri;

use crate::hosts::{Hosts, HostsError};

/// An application's address and kind of RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// gRPC: `host:port`, `dns:///host:port`, or `grpc-list://a:1,b:2`.
    Grpc(Hosts),
    /// HTTP: `http://host/path` or `https://host/path`.
    Http(BaseUrl),
}

/// The URL under which an HTTP application serves `connect`, `command` and `disconnect`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

/// Why a text does not name an application.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TargetError {
    /// Not an address for gRPC.
    #[error(transparent)]
    Hosts(#[from] HostsError),
    /// An `http(s)` URL that cannot be used.
    #[error("{text:?} {reason}; expected something like http://localhost:3000/_anycable")]
    Url {
        /// The URL without its user and password.
        text: String,
        /// The fault.
        reason: &'static str,
    },
}

impl BaseUrl {
    /// Whether calls use TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.0.starts_with("https:")
    }

    /// The URL of the call with this name. Names are path segments.
    pub(crate) fn join(&self, name: &str) -> Uri {
        let url = format!("{}/{name}", self.0);
        url.parse().expect("a checked URL and a path segment make a URL")
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        match text.split_once("://") {
            Some(("http" | "https", _)) => base_url(text).map(Self::Http),
            _ => Ok(Self::Grpc(text.parse()?)),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grpc(hosts) => hosts.fmt(f),
            Self::Http(BaseUrl(url)) => f.write_str(url),
        }
    }
}

fn base_url(text: &str) -> Result<BaseUrl, TargetError> {
    let wrong = |reason| TargetError::Url {
        text: plimsoll_redacted::url_with_query(text).into_owned(),
        reason,
    };
    if matches!(plimsoll_redacted::url(text), Cow::Owned(_)) {
        return Err(wrong(
            "has a user name, which is not sent; use --http_rpc_secret for a secret",
        ));
    }
    let url: Uri = text.parse().map_err(|_| wrong("is not a URL"))?;
    if url.host().is_none_or(str::is_empty) {
        return Err(wrong("has no host"));
    }
    if url.query().is_some() {
        return Err(wrong(
            "has a query, but the names of calls are appended to the URL",
        ));
    }
    Ok(BaseUrl(text.trim_end_matches('/').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let target: Result<Target, _> = text.parse();
        let got = target.map(|target| match target {
            Target::Grpc(hosts) => format!("gRPC {hosts}"),
            Target::Http(url) => url.join("connect").to_string(),
        });
        assert_eq!(
            got.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
    }

    #[test]
    fn the_scheme_says_the_kind() {
        check("localhost:50051", Ok("gRPC localhost:50051"));
        check("grpc-list://a:1,b:2", Ok("gRPC a:1,b:2"));
        check(
            "http://localhost:3000/_anycable",
            Ok("http://localhost:3000/_anycable/connect"),
        );
        check(
            "https://example.com/api/cable/",
            Ok("https://example.com/api/cable/connect"),
        );
        check("http://[::1]:3000", Ok("http://[::1]:3000/connect"));
    }

    #[test]
    fn a_url_that_cannot_be_used_is_refused_with_an_example() {
        const EXAMPLE: &str = "; expected something like http://localhost:3000/_anycable";
        for (text, reason) in [
            ("http://", r#""http://" is not a URL"#),
            (
                "http://me:pass@host/",
                r#""http://***@host/" has a user name, which is not sent; use --http_rpc_secret for a secret"#,
            ),
            (
                "http://me:pa/ss@host:x/",
                r#""http://***@host:x/" has a user name, which is not sent; use --http_rpc_secret for a secret"#,
            ),
            (
                "https://host/?a=1",
                r#""https://host/?a=1" has a query, but the names of calls are appended to the URL"#,
            ),
        ] {
            check(text, Err(&format!("{reason}{EXAMPLE}")));
        }
    }
}
