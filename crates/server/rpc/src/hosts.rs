//! The addresses of a gRPC application.

use std::{fmt, str::FromStr};

use http::uri::Authority;

/// One or more addresses of a gRPC application: `host:port`, `dns:///host:port`, or `grpc-list://a:1,b:2`.
///
/// Calls take turns over all addresses of all names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(Vec<Authority>);

/// Why a text does not name an application.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HostsError {
    /// An unknown scheme.
    #[error(
        "unknown scheme {scheme:?}; valid are host:port, dns:///host:port and grpc-list://host:port,host:port \
         for gRPC, and http://host/path and https://host/path for HTTP"
    )]
    Scheme {
        /// The text before `://`.
        scheme: String,
    },
    /// The host, the port, or both are missing.
    #[error("{text:?} is not a host and port; expected something like localhost:50051")]
    Address {
        /// The wrong part, without user and password.
        text: String,
    },
}

impl Hosts {
    /// The addresses, at least one.
    pub(crate) fn authorities(&self) -> &[Authority] {
        &self.0
    }
}

impl FromStr for Hosts {
    type Err = HostsError;

    fn from_str(text: &str) -> Result<Self, HostsError> {
        let addresses = match text.split_once("://") {
            None => vec![text],
            // A name server could stand between the slashes. AnyCable does not accept one, either.
            Some(("dns", rest)) => vec![rest.strip_prefix('/').unwrap_or(rest)],
            Some(("grpc-list", rest)) => rest.split(',').map(str::trim).collect(),
            Some((scheme, _)) => {
                let scheme = scheme.to_owned();
                return Err(HostsError::Scheme { scheme });
            }
        };
        addresses
            .into_iter()
            .map(parse_address)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// Writes the addresses with commas between them.
impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.0.iter().map(Authority::as_str).collect();
        f.write_str(&texts.join(","))
    }
}

fn parse_address(text: &str) -> Result<Authority, HostsError> {
    let is_complete = |authority: &Authority| {
        !authority.host().is_empty() && authority.port_u16().is_some() && !text.contains('@')
    };
    let authority = text.parse().ok().filter(is_complete);
    authority.ok_or_else(|| HostsError::Address {
        text: plimsoll_redacted::url(text).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&[&str], &str>) {
        let hosts: Result<Hosts, _> = text.parse();
        let got = hosts.map(|hosts| hosts.0.iter().map(ToString::to_string).collect::<Vec<_>>());
        let expected = expected.map(|hosts| hosts.iter().map(|host| (*host).to_owned()).collect());
        assert_eq!(
            got.map_err(|error| error.to_string()),
            expected.map_err(str::to_owned)
        );
    }

    #[test]
    fn addresses_and_lists_of_them() {
        check("localhost:50051", Ok(&["localhost:50051"]));
        check("[::1]:50051", Ok(&["[::1]:50051"]));
        check("dns:///rpc.internal:50051", Ok(&["rpc.internal:50051"]));
        check("grpc-list://a:1,b:2", Ok(&["a:1", "b:2"]));
        check("grpc-list://a:1, b:2", Ok(&["a:1", "b:2"]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        check(
            "localhost",
            Err(r#""localhost" is not a host and port; expected something like localhost:50051"#),
        );
        check(
            "grpc-list://a:1,b",
            Err(r#""b" is not a host and port; expected something like localhost:50051"#),
        );
        check(
            "grpc-list://a:1,me:pass@b:2",
            Err(r#""***@b:2" is not a host and port; expected something like localhost:50051"#),
        );
        check(
            ":50051",
            Err(r#"":50051" is not a host and port; expected something like localhost:50051"#),
        );
        check(
            "",
            Err(r#""" is not a host and port; expected something like localhost:50051"#),
        );
        check(
            "grpc://a:1",
            Err(
                r#"unknown scheme "grpc"; valid are host:port, dns:///host:port and grpc-list://host:port,host:port for gRPC, and http://host/path and https://host/path for HTTP"#,
            ),
        );
    }
}
