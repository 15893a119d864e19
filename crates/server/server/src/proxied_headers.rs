//! The request headers that the application receives.

use std::net::IpAddr;

use plimsoll_websocket::handshake::server::Request;

use crate::application::{Entries, REMOTE_ADDRESS};

/// The prefix of a sub-protocol that carries a token. The sub-protocol is the only part of the request that a page in a
/// browser can choose.
const TOKEN_PROTOCOL: &str = "anycable-token.";

/// The headers to pass on, and the cookies to keep in `Cookie`.
#[derive(Debug, Clone)]
pub struct ProxiedHeaders {
    /// Names in lower case.
    names: Vec<String>,
    /// The header with a client's token, in lower case.
    token: Option<String>,
    /// The names of the cookies. Empty: all cookies.
    cookies: Vec<String>,
}

impl ProxiedHeaders {
    /// Passes on the headers called `names`, in any case, and the cookies called `cookies` (all cookies if it is
    /// empty). Names of cookies are case-sensitive (RFC 6265 §4.1.1).
    pub fn new(names: impl IntoIterator<Item = String>, cookies: Vec<String>) -> Self {
        let names = names.into_iter().map(|name| name.to_ascii_lowercase());
        Self {
            names: names.collect(),
            token: None,
            cookies,
        }
    }

    /// Also passes on a client's token, as the header for this parameter. The client may have sent it as that header or
    /// as the sub-protocol `anycable-token.<token>`.
    #[must_use]
    pub fn with_token(self, parameter: &str) -> Self {
        let token = Some(Self::token_header(parameter));
        Self { token, ..self }
    }

    /// The header for a token that is called `parameter` in a query: `x-jid` for `jid`.
    pub(crate) fn token_header(parameter: &str) -> String {
        format!("x-{}", parameter.to_ascii_lowercase())
    }

    /// The application's part of a request: headers with lower-case names, and always the peer's address.
    pub(crate) fn select(&self, request: &Request<'_>, peer: IpAddr) -> Entries {
        let selected = self.names.iter().filter_map(|name| {
            let values: Vec<_> = request.headers(name).collect();
            let value = match (values.is_empty(), name.as_str()) {
                (true, _) => return None,
                (false, "cookie") => filter_cookies(&values.join("; "), &self.cookies),
                // Several lines of one header are equivalent to one line with commas (RFC 9110 §5.3).
                (false, _) => values.join(", "),
            };
            Some((name.clone(), value)).filter(|(_, value)| !value.is_empty())
        });
        let token = self.token.iter().filter_map(|name| {
            let value = request.header(name).filter(|value| !value.is_empty());
            Some((
                name.clone(),
                value.or_else(|| token_protocol(request))?.to_owned(),
            ))
        });
        let address = (REMOTE_ADDRESS.to_owned(), peer.to_string());
        selected.chain(token).chain([address]).collect()
    }
}

impl Default for ProxiedHeaders {
    /// Passes on all cookies and no other header.
    fn default() -> Self {
        Self::new(["cookie".to_owned()], Vec::new())
    }
}

fn token_protocol<'a>(request: &Request<'a>) -> Option<&'a str> {
    let offered = request.headers("Sec-WebSocket-Protocol");
    let mut names = offered.flat_map(|line| line.split(',')).map(str::trim);
    names.find_map(|name| {
        name.strip_prefix(TOKEN_PROTOCOL)
            .filter(|token| !token.is_empty())
    })
}

/// Keeps the cookies called one of `names`, with their order and their values unchanged.
fn filter_cookies(cookies: &str, names: &[String]) -> String {
    if names.is_empty() {
        return cookies.to_owned();
    }
    let kept: Vec<_> = cookies
        .split(';')
        .map(str::trim)
        .filter(|pair| {
            let name = pair.split_once('=').map_or(*pair, |(name, _)| name);
            names.iter().any(|wanted| wanted == name)
        })
        .collect();
    kept.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_cookies(cookies: &str, names: &[&str], expected: &str) {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(filter_cookies(cookies, &names), expected, "{cookies:?} {names:?}");
    }

    #[test]
    fn cookies_are_kept_by_name_wherever_they_stand() {
        check_cookies("a=1; b=2", &[], "a=1; b=2");
        check_cookies("a=1; b=2; c=3", &["b", "c"], "b=2; c=3");
        check_cookies("a=1;b=2;  c=3", &["c"], "c=3");
        check_cookies(
            "_session=abc==; b=x=y",
            &["_session", "b"],
            "_session=abc==; b=x=y",
        );
        check_cookies("ab=1; a=2; A=3", &["a"], "a=2");
        check_cookies("a=1; a=2", &["a"], "a=1; a=2");
        check_cookies("flag; a=", &["flag", "a"], "flag; a=");
        check_cookies("a=1", &["b"], "");
        check_cookies("", &["b"], "");
    }

    #[track_caller]
    fn check_headers(proxied: &ProxiedHeaders, head: &str, expected: &[(&str, &str)]) {
        let head = format!("GET /cable HTTP/1.1\r\n{head}\r\n");
        let (request, _) = Request::parse(head.as_bytes())
            .expect("the head is valid")
            .expect("the head is complete");
        let selected = proxied.select(&request, IpAddr::from([10, 0, 0, 7]));
        let selected: Vec<_> = selected.iter().map(|(name, value)| (name, &**value)).collect();
        assert_eq!(selected, expected);
    }

    #[test]
    fn headers_have_lower_case_names_and_the_address_is_always_there() {
        let head = "Host: x\r\nX-Request-Id: 1\r\nCOOKIE: a=1\r\nCookie: b=2\r\nAccept: x\r\nAccept: y\r\n";
        let proxied = ProxiedHeaders::new(["Cookie".to_owned(), "ACCEPT".to_owned()], vec!["b".to_owned()]);
        let address = (REMOTE_ADDRESS, "10.0.0.7");
        check_headers(&proxied, head, &[address, ("accept", "x, y"), ("cookie", "b=2")]);
        check_headers(
            &ProxiedHeaders::default(),
            head,
            &[address, ("cookie", "a=1; b=2")],
        );
        check_headers(&ProxiedHeaders::default(), "Host: x\r\n", &[address]);
    }

    #[test]
    fn a_token_is_passed_on_as_its_header_which_wins_over_the_sub_protocol() {
        let address = (REMOTE_ADDRESS, "10.0.0.7");
        let protocol = "Sec-WebSocket-Protocol: actioncable-v1-json, anycable-token.p.q\r\n";
        let proxied = ProxiedHeaders::default().with_token("JID");
        check_headers(&proxied, "", &[address]);
        check_headers(&proxied, protocol, &[address, ("x-jid", "p.q")]);
        check_headers(
            &proxied,
            &format!("X-Jid: h\r\n{protocol}"),
            &[address, ("x-jid", "h")],
        );
        check_headers(
            &proxied,
            &format!("X-Jid:\r\n{protocol}"),
            &[address, ("x-jid", "p.q")],
        );
        check_headers(
            &proxied,
            "Sec-WebSocket-Protocol: anycable-token.\r\n",
            &[address],
        );
        check_headers(
            &ProxiedHeaders::default(),
            &format!("X-Jid: h\r\n{protocol}"),
            &[address],
        );
    }
}
