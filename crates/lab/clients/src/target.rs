//! The target of a client: a `ws://` or `wss://` URL, parsed once, before thousands of connects use it.
//!
//! A URL library is not needed: RFC 6455 §3 allows only scheme, host, port, path and query, and anything else in the
//! text is a mistake that must be reported before the load starts.

use std::{
    borrow::Cow,
    fmt, io,
    net::{IpAddr, SocketAddr},
};

/// One WebSocket server address: `ws://host[:port][/path][?query]`, or with `wss`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    scheme: Scheme,
    host: Host,
    port: u16,
    path_and_query: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Ws,
    Wss,
}

impl Scheme {
    /// The default port (RFC 6455 §3).
    fn default_port(self) -> u16 {
        match self {
            Self::Ws => 80,
            Self::Wss => 443,
        }
    }
}

/// The host part of a URL; an IPv6 literal loses its brackets here and gets them back in [`Target::authority`].
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Ip(IpAddr),
}

/// Why a text is not a target. All variants are the caller's mistakes: usage errors, exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No `scheme://` at the front.
    #[error("{url:?} has no scheme; write it as ws://host:port/path, for example ws://127.0.0.1:8080/cable")]
    NoScheme {
        /// The text without user, password and tokens.
        url: String,
    },
    /// Another protocol.
    #[error("{url:?} has the scheme {scheme:?}; expected ws or wss, for example ws://127.0.0.1:8080/cable")]
    Scheme {
        /// The text without user, password and tokens.
        url: String,
        /// The scheme found.
        scheme: String,
    },
    /// Nothing between the scheme and the path.
    #[error("{url:?} has no host; write it as ws://host:port/path, for example ws://127.0.0.1:8080/cable")]
    NoHost {
        /// The text without user, password and tokens.
        url: String,
    },
    /// `user:password@host`.
    #[error(
        "{url:?} has a user name, which WebSocket URLs do not allow; send it in a header or in the query"
    )]
    UserInfo {
        /// The text without user, password and tokens.
        url: String,
    },
    /// A bracketed host that is not an IPv6 address, or an IPv6 address without brackets.
    #[error("{url:?} has a bad IPv6 address; write it in brackets, for example ws://[::1]:8080/cable")]
    Ipv6 {
        /// The text without user, password and tokens.
        url: String,
    },
    /// A port that is not a number from 1 to 65535.
    #[error("{url:?} has the port {port:?}; expected a number from 1 to 65535")]
    Port {
        /// The text without user, password and tokens.
        url: String,
        /// The port text found.
        port: String,
    },
    /// RFC 6455 §3 forbids fragments.
    #[error("{url:?} has a fragment (#…), which WebSocket URLs do not allow; write # as %23 if it is data")]
    Fragment {
        /// The text without user, password and tokens.
        url: String,
    },
    /// A space, a control character or a character outside ASCII.
    #[error("{url:?} contains {character:?}; percent-encode it")]
    Character {
        /// The text without user, password and tokens.
        url: String,
        /// The first such character.
        character: char,
    },
}

/// The host name has no address.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The resolver failed.
    #[error("cannot resolve {host:?}: {source}; check the spelling or use an IP address")]
    Lookup {
        /// The host as given.
        host: String,
        /// The resolver's answer.
        source: io::Error,
    },
    /// The resolver succeeded with an empty list.
    #[error("the host {host:?} has no address; use an IP address")]
    Empty {
        /// The host as given.
        host: String,
    },
}

impl Target {
    /// Reads a `ws://` or `wss://` URL. The port defaults to 80 or 443, the path to `/`.
    ///
    /// # Errors
    /// [`TargetError`] says what is wrong and shows a good URL.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        // Checked first, because errors about other parts could show the password.
        if matches!(plimsoll_redacted::url(url), Cow::Owned(_)) {
            return Err(TargetError::UserInfo { url: shown(url) });
        }
        let (scheme, rest) = split_scheme(url)?;
        check_characters(url, rest)?;
        let split = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(split);
        let (host, port) = parse_authority(url, authority)?;
        Ok(Self {
            scheme,
            host,
            port: port.unwrap_or(scheme.default_port()),
            path_and_query: with_leading_slash(path),
        })
    }

    /// Whether the URL asks for TLS.
    pub fn is_secure(&self) -> bool {
        self.scheme == Scheme::Wss
    }

    /// The host without brackets.
    pub fn host(&self) -> String {
        match &self.host {
            Host::Name(name) => name.clone(),
            Host::Ip(ip) => ip.to_string(),
        }
    }

    /// The port, 1–65535.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The whole URL, with its tokens.
    pub fn url(&self) -> String {
        let scheme = match self.scheme {
            Scheme::Ws => "ws",
            Scheme::Wss => "wss",
        };
        format!("{scheme}://{}{}", self.authority(), self.path_and_query)
    }

    /// The path and query for the request line. Begins with `/`.
    pub fn path_and_query(&self) -> &str {
        &self.path_and_query
    }

    /// The value of the `Host` header (RFC 9110 §7.2). The default port is omitted.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.bracketed_host()
        } else {
            format!("{}:{}", self.bracketed_host(), self.port)
        }
    }

    /// The origin of a page of the server itself (RFC 6454 §6.2), with `http` or `https` also for a WebSocket.
    pub fn own_origin(&self) -> String {
        let scheme = if self.is_secure() { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }

    /// The addresses of the host, in the resolver's order, without repetition; never empty.
    ///
    /// Resolve once per run: a load test should not become a load test of the resolver.
    ///
    /// # Errors
    /// [`ResolveError`] when the host has no address.
    pub async fn resolve(&self) -> Result<Vec<SocketAddr>, ResolveError> {
        let name = match &self.host {
            Host::Ip(ip) => return Ok(vec![SocketAddr::new(*ip, self.port)]),
            Host::Name(name) => name,
        };
        let found = tokio::net::lookup_host((name.as_str(), self.port)).await;
        let mut addresses = Vec::new();
        for address in found.map_err(|source| ResolveError::Lookup {
            host: name.clone(),
            source,
        })? {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(ResolveError::Empty { host: name.clone() });
        }
        Ok(addresses)
    }

    fn bracketed_host(&self) -> String {
        match &self.host {
            Host::Ip(IpAddr::V6(ip)) => format!("[{ip}]"),
            _ => self.host(),
        }
    }
}

/// Writes the URL as people see it: with `***` instead of tokens.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plimsoll_redacted::url_with_query(&self.url()))
    }
}

/// The URL for people.
fn shown(url: &str) -> String {
    plimsoll_redacted::url_with_query(url).into_owned()
}

fn split_scheme(url: &str) -> Result<(Scheme, &str), TargetError> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(TargetError::NoScheme { url: shown(url) });
    };
    match scheme.to_ascii_lowercase().as_str() {
        "ws" => Ok((Scheme::Ws, rest)),
        "wss" => Ok((Scheme::Wss, rest)),
        _ => Err(TargetError::Scheme {
            url: shown(url),
            scheme: scheme.into(),
        }),
    }
}

fn check_characters(url: &str, rest: &str) -> Result<(), TargetError> {
    match rest.chars().find(|c| *c == '#' || !c.is_ascii_graphic()) {
        None => Ok(()),
        Some('#') => Err(TargetError::Fragment { url: shown(url) }),
        Some(character) => Err(TargetError::Character {
            url: shown(url),
            character,
        }),
    }
}

fn parse_authority(url: &str, authority: &str) -> Result<(Host, Option<u16>), TargetError> {
    let (host, port) = split_port(url, authority)?;
    let port = match port {
        None | Some("") => None,
        Some(text) => Some(parse_port(url, text)?),
    };
    Ok((host, port))
}

fn split_port<'a>(url: &str, authority: &'a str) -> Result<(Host, Option<&'a str>), TargetError> {
    let bad_ipv6 = || TargetError::Ipv6 { url: shown(url) };
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (ip, after) = bracketed.split_once(']').ok_or_else(bad_ipv6)?;
        let ip = ip.parse().map_err(|_| bad_ipv6())?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((Host::Ip(IpAddr::V6(ip)), Some(port))),
            None if after.is_empty() => Ok((Host::Ip(IpAddr::V6(ip)), None)),
            None => Err(bad_ipv6()),
        };
    }
    let (name, port) = match authority.split_once(':') {
        Some((_, port)) if port.contains(':') => return Err(bad_ipv6()),
        Some((name, port)) => (name, Some(port)),
        None => (authority, None),
    };
    if name.is_empty() {
        return Err(TargetError::NoHost { url: shown(url) });
    }
    let host = name
        .parse()
        .map_or_else(|_| Host::Name(name.into()), |ip| Host::Ip(IpAddr::V4(ip)));
    Ok((host, port))
}

fn parse_port(url: &str, text: &str) -> Result<u16, TargetError> {
    // `u16::from_str` takes "+80"; a URL does not.
    let digits_only = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits_only && port > 0 => Ok(port),
        _ => Err(TargetError::Port {
            url: shown(url),
            port: text.into(),
        }),
    }
}

fn with_leading_slash(path: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_urls_come_apart() {
        let check = |url: &str, host: &str, port: u16, path: &str, authority: &str| {
            let target = Target::parse(url).unwrap();
            let got = (
                target.host(),
                target.port(),
                target.path_and_query(),
                target.authority(),
            );
            assert_eq!(got, (host.into(), port, path, authority.into()), "{url}");
        };
        check("ws://localhost", "localhost", 80, "/", "localhost");
        check("ws://localhost:80/", "localhost", 80, "/", "localhost");
        check(
            "WS://127.0.0.1:8080/cable",
            "127.0.0.1",
            8080,
            "/cable",
            "127.0.0.1:8080",
        );
        check(
            "ws://[::1]:8080/cable?a=b/c",
            "::1",
            8080,
            "/cable?a=b/c",
            "[::1]:8080",
        );
        check("ws://[2001:DB8::1]/", "2001:db8::1", 80, "/", "[2001:db8::1]");
        check("ws://h?token=1", "h", 80, "/?token=1", "h");
        check("ws://h:/x", "h", 80, "/x", "h");
        check("wss://h/x", "h", 443, "/x", "h");
        check("Wss://h:80/x", "h", 80, "/x", "h:80");
        check("ws://h:443/x", "h", 443, "/x", "h:443");
    }

    #[test]
    fn the_scheme_says_whether_there_is_tls() {
        let check = |url: &str, is_secure: bool, whole: &str| {
            let target = Target::parse(url).unwrap();
            assert_eq!((target.is_secure(), target.url()), (is_secure, whole.into()));
        };
        check("WS://h:80", false, "ws://h/");
        check("WSS://h:443?a", true, "wss://h/?a");
    }

    #[test]
    fn tokens_are_sent_and_not_shown() {
        let check = |url: &str, whole: &str, shown: &str| {
            let target = Target::parse(url).unwrap();
            assert_eq!((target.url(), target.to_string()), (whole.into(), shown.into()));
        };
        check("ws://h", "ws://h/", "ws://h/");
        check("ws://h?room=1", "ws://h/?room=1", "ws://h/?room=1");
        check(
            "wss://h/cable?jid=s3cret&room=1",
            "wss://h/cable?jid=s3cret&room=1",
            "wss://h/cable?jid=***&room=1",
        );
    }

    #[test]
    fn errors_have_no_secrets() {
        for url in [
            "h/cable?jid=s3cret",
            "wss//x?token=s3cret",
            "http://h/?token=s3cret",
            "ws://?token=s3cret",
            "ws://kay:s3cret@h:99999/cable?jid=s3cret",
            "ws://h:99999/cable?jid=s3cret",
            "ws://::1/?auth_token=s3cret",
            "ws://h/#/cable?token=s3cret",
            "ws://h/?token=s3cret#s3cret",
            "ws://h/?token=s3cret s3cret",
        ] {
            let message = Target::parse(url).unwrap_err().to_string();
            assert!(
                message.contains("***") && !message.contains("s3cret"),
                "{url}: {message}"
            );
        }
    }

    #[test]
    fn bad_urls_are_explained() {
        let check = |url: &str, part_of_message: &str| {
            let message = Target::parse(url).unwrap_err().to_string();
            assert!(message.contains(part_of_message), "{url}: {message}");
        };
        check("localhost:8080", "has no scheme");
        check("http://h/", "scheme \"http\"; expected ws or wss");
        check("ws://", "has no host");
        check("ws://:8080/", "has no host");
        check("ws://me:pw@h/", "\"ws://***@h/\" has a user name");
        check("ws://me:p/w@h/", "\"ws://***@h/\" has a user name");
        check("me:pw@h/", "\"***@h/\" has a user name");
        check("ws://::1/", "IPv6");
        check("ws://[::1/", "IPv6");
        check("ws://[::1]x/", "IPv6");
        check("ws://[nope]/", "IPv6");
        check("ws://h:0/", "port \"0\"");
        check("ws://h:+1/", "port \"+1\"");
        check("ws://h:65536/", "port \"65536\"");
        check("ws://h/#a", "fragment");
        check("ws://h/a b", "contains ' '");
        check("ws://h/ü", "contains 'ü'");
        check("ws://h/\r\nX: y", "percent-encode");
    }

    #[tokio::test]
    async fn ip_literals_need_no_resolver() {
        let addresses = Target::parse("ws://[::1]:9/").unwrap().resolve().await.unwrap();
        assert_eq!(addresses, ["[::1]:9".parse().unwrap()]);
    }
}
