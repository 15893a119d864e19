//! Decides whether a request comes from the page itself.

use std::net::{IpAddr, SocketAddr};

use hyper::{
    header::{self, HeaderMap, HeaderName},
    http::uri::Authority,
};

/// The port that browsers omit (RFC 9110 §4.2.1).
const HTTP_PORT: u16 = 80;

/// The headers of a request that tell its origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// `Host`.
    pub host: Option<&'a str>,
    /// `Origin`: browsers send it with every POST.
    pub origin: Option<&'a str>,
    /// `Sec-Fetch-Site`.
    pub site: Option<&'a str>,
}

impl<'a> Origin<'a> {
    /// Reads the headers of a request.
    pub fn of(headers: &'a HeaderMap) -> Self {
        let header = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            host: header(header::HOST),
            origin: header(header::ORIGIN),
            site: header(HeaderName::from_static("sec-fetch-site")),
        }
    }

    /// Whether the request was sent to this machine under one of its own names, and to this port. A web page whose name
    /// was pointed to this machine uses that name.
    pub fn is_local(&self, address: SocketAddr) -> bool {
        let port = self.authority().map(|host| host.port_u16().unwrap_or(HTTP_PORT));
        port == Some(address.port()) && self.names_this_machine()
    }

    /// Whether the request was sent under one of this machine's own names, with any port, because it may have been
    /// forwarded.
    pub fn names_this_machine(&self) -> bool {
        self.authority().is_some_and(|authority| {
            let name = authority.host();
            let number = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
            let number = number.unwrap_or(name).parse();
            name.eq_ignore_ascii_case("localhost")
                || number.is_ok_and(|address: IpAddr| address.is_loopback())
        })
    }

    fn authority(&self) -> Option<Authority> {
        self.host?.parse().ok()
    }

    /// Whether an order comes from the page, as far as browsers tell.
    pub fn is_own(&self) -> bool {
        let is_own_origin = self.origin.is_none_or(|origin| {
            let host = origin.strip_prefix("http://");
            host.is_some() && host == self.host
        });
        is_own_origin && self.site.is_none_or(|site| site == "same-origin")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine() {
        let address = "127.0.0.1:5665".parse().unwrap();
        for (host, expected) in [
            (Some("127.0.0.1:5665"), true),
            (Some("localhost:5665"), true),
            (Some("LOCALHOST:5665"), true),
            (Some("[::1]:5665"), true),
            (Some("127.0.0.1:80"), false),
            (Some("127.0.0.1"), false),
            (Some("127.0.0.1:"), false),
            (Some("evil.example:5665"), false),
            (Some("localhost.evil.example:5665"), false),
            (Some("10.0.0.1:5665"), false),
            (None, false),
        ] {
            let origin = Origin {
                host,
                ..Origin::default()
            };
            assert_eq!(origin.is_local(address), expected, "{host:?}");
        }
        let usual = Origin {
            host: Some("localhost"),
            ..Origin::default()
        };
        assert!(usual.is_local("127.0.0.1:80".parse().unwrap()));
    }

    #[test]
    fn orders_of_other_pages() {
        let host = Some("localhost:5665");
        for (origin, site, expected) in [
            (Some("http://localhost:5665"), Some("same-origin"), true),
            (Some("http://localhost:5665"), None, true),
            (None, None, true),
            (Some("http://evil.example"), None, false),
            (Some("null"), None, false),
            (Some("https://localhost:5665"), None, false),
            (Some("http://localhost:3000"), None, false),
            (None, Some("cross-site"), false),
            (None, Some("same-site"), false),
        ] {
            let origin = Origin { host, origin, site };
            assert_eq!(origin.is_own(), expected, "{origin:?}");
        }
    }
}
