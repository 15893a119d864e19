//! The head of a request, written once for both versions of HTTP.

use std::{borrow::Cow, io::Write};

use url::Url;

use super::{HttpError, Request};
use crate::dial::Proxy;

/// Fields of a head that are not part of the request.
pub(super) struct Additions<'a> {
    /// Cookies to append to the request's own in the `Cookie` field. Empty for none.
    pub(super) cookies: &'a str,
    /// The `Authorization` field, unless the request has one.
    pub(super) authorization: Option<&'a str>,
    /// Whether the request's own `Authorization` field is left out. NTLM reads user and password from it.
    pub(super) hides_authorization: bool,
    /// The `Referer` field, unless the request has one.
    pub(super) referer: Option<&'a str>,
    /// The `User-Agent` field, unless the request has one. Empty for none.
    pub(super) user_agent: &'a str,
    /// The proxy that gets the request: then the first line has the whole URL (RFC 9112 §3.2.2).
    pub(super) proxy: Option<&'a Proxy>,
}

/// Fields that are not sent as the request has them.
const OWN_FIELDS: [&str; 4] = ["host", "content-length", "transfer-encoding", "cookie"];

/// A usual head fits.
const USUAL_BYTES: usize = 384;

/// The head as HTTP/1.1 writes it (RFC 9112 §3).
pub(super) fn write(request: &Request, additions: &Additions<'_>) -> Result<Vec<u8>, HttpError> {
    let mut head = Vec::with_capacity(USUAL_BYTES);
    let url = &request.url;
    head.extend_from_slice(request.method.as_str().as_bytes());
    head.push(b' ');
    if additions.proxy.is_some() {
        head.extend_from_slice(url.scheme().as_bytes());
        head.extend_from_slice(b"://");
        write_host(url, &mut head);
    }
    head.extend_from_slice(url.path().as_bytes());
    if let Some(query) = url.query() {
        head.push(b'?');
        head.extend_from_slice(query.as_bytes());
    }
    head.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    match own(request, "host") {
        Some(host) => head.extend_from_slice(checked("Host", host)?.as_bytes()),
        None => write_host(url, &mut head),
    }
    head.extend_from_slice(b"\r\n");
    let mut add = |name: &str, value: &str| {
        for part in [name, ": ", value, "\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
    };
    if !additions.user_agent.is_empty() && own(request, "user-agent").is_none() {
        add("User-Agent", checked("User-Agent", additions.user_agent)?);
    }
    for (name, value) in &request.headers {
        let is_hidden = additions.hides_authorization && name.eq_ignore_ascii_case("authorization");
        if !is_hidden && !OWN_FIELDS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            add(checked_name(name)?, checked(name, value)?);
        }
    }
    if let Some(authorization) = additions.authorization
        && (additions.hides_authorization || own(request, "authorization").is_none())
    {
        add("Authorization", checked("Authorization", authorization)?);
    }
    if let Some(authorization) = additions.proxy.and_then(Proxy::authorization)
        && own(request, "proxy-authorization").is_none()
    {
        add("Proxy-Authorization", authorization);
    }
    if let Some(referer) = additions.referer
        && own(request, "referer").is_none()
    {
        add("Referer", referer);
    }
    // There must not be two such fields (RFC 6265 §5.4).
    let cookies = match own(request, "cookie") {
        None => Cow::Borrowed(additions.cookies),
        Some(given) if additions.cookies.is_empty() => Cow::Borrowed(given),
        Some(given) => Cow::Owned(format!("{given}; {}", additions.cookies)),
    };
    if !cookies.is_empty() {
        add("Cookie", checked("Cookie", &cookies)?);
    }
    // A method that expects a body sends a length of 0 without one (RFC 9110 §8.6).
    if !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        add("Content-Length", &request.body.len().to_string());
    }
    head.extend_from_slice(b"\r\n");
    Ok(head)
}

/// The value that the request itself has for a field.
fn own<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let mut fields = request.headers.iter();
    let found = fields.find(|(other, _)| other.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

fn write_host(url: &Url, head: &mut Vec<u8>) {
    head.extend_from_slice(url.host_str().unwrap_or_default().as_bytes());
    if let Some(port) = url.port() {
        head.push(b':');
        // Writing to a vector cannot fail.
        let _ = write!(head, "{port}");
    }
}

/// Checks a field. A line break in a value would create another field. Other control characters are not allowed, either
/// (RFC 9110 §5.5).
fn checked<'a>(name: &str, value: &'a str) -> Result<&'a str, HttpError> {
    if value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
        return Err(HttpError::Field(name.to_owned()));
    }
    Ok(value)
}

fn checked_name(name: &str) -> Result<&str, HttpError> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(HttpError::Field(name.to_owned()));
    }
    Ok(name)
}

/// The head for HTTP/2 (RFC 9113 §8.3), without the fields that only HTTP/1.1 has.
pub(super) fn for_http2(request: &Request, head: &[u8]) -> Result<http::Request<()>, HttpError> {
    let mut fields = vec![httparse::EMPTY_HEADER; request.headers.len() + MAX_ADDED_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let unusable = || HttpError::Malformed("a head that HTTP/2 cannot carry");
    parsed.parse(head).map_err(|_| unusable())?;
    let host = parsed.headers.iter().find(|field| field.name == "Host");
    let authority = std::str::from_utf8(host.map_or(b"", |field| field.value)).unwrap_or_default();
    let uri = http::Uri::builder()
        .scheme(request.url.scheme())
        .authority(authority)
        .path_and_query(parsed.path.unwrap_or("/"))
        .build();
    let mut converted = http::Request::builder()
        .method(request.method.clone())
        .uri(uri.map_err(|_| unusable())?)
        .version(http::Version::HTTP_2);
    for field in parsed.headers.iter() {
        let name = field.name.to_ascii_lowercase();
        if !matches!(
            &*name,
            "host" | "connection" | "keep-alive" | "upgrade" | "proxy-connection"
        ) {
            converted = converted.header(name, field.value);
        }
    }
    converted
        .body(())
        .map_err(|_| HttpError::Field(authority.to_owned()))
}

/// Host, User-Agent, Authorization, Referer, Cookie, Content-Length.
const MAX_ADDED_FIELDS: usize = 6;

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    const NOTHING: Additions<'_> = Additions {
        cookies: "",
        authorization: None,
        hides_authorization: false,
        referer: None,
        user_agent: "",
        proxy: None,
    };

    fn request(method: Method, url: &str, headers: &[(&str, &str)], body: &str) -> Request {
        Request {
            headers: headers
                .iter()
                .map(|&(name, value)| (name.into(), value.into()))
                .collect(),
            body: body.into(),
            ..Request::new(method, url.parse().unwrap())
        }
    }

    fn lines(request: &Request, additions: &Additions<'_>) -> String {
        let written = write(request, additions);
        written.map_or_else(
            |error| error.to_string(),
            |head| String::from_utf8(head).unwrap().replace("\r\n", "/"),
        )
    }

    #[test]
    fn a_head_says_what_the_request_asks_for() {
        let check = |request: &Request, expected: &str| assert_eq!(lines(request, &NOTHING), expected);
        let get = |url: &str| request(Method::GET, url, &[], "");
        check(&get("http://a.test"), "GET / HTTP/1.1/Host: a.test//");
        check(
            &get("https://u:p@a.test:8443/x y?q=ü#f"),
            "GET /x%20y?q=%C3%BC HTTP/1.1/Host: a.test:8443//",
        );
        check(&get("http://[::1]:80/"), "GET / HTTP/1.1/Host: [::1]//");
        let post = request(
            Method::POST,
            "http://a/",
            &[("content-length", "99"), ("X", "1")],
            "body",
        );
        check(&post, "POST / HTTP/1.1/Host: a/X: 1/Content-Length: 4//");
        check(
            &request(Method::PUT, "http://a/", &[], ""),
            "PUT / HTTP/1.1/Host: a/Content-Length: 0//",
        );
        check(
            &request(Method::GET, "http://a/", &[("HOST", "b")], ""),
            "GET / HTTP/1.1/Host: b//",
        );
    }

    #[test]
    fn what_the_request_says_itself_wins() {
        let additions = Additions {
            cookies: "a=1; b=2",
            authorization: Some("Basic x"),
            hides_authorization: false,
            referer: Some("http://r/"),
            user_agent: "plimsoll",
            proxy: None,
        };
        let plain = request(Method::GET, "http://a/", &[], "");
        let expected = "GET / HTTP/1.1/Host: a/User-Agent: plimsoll/Authorization: Basic x/Referer: http://r//Cookie: a=1; b=2//";
        assert_eq!(lines(&plain, &additions), expected);
        let own = [
            ("user-agent", "me"),
            ("authorization", "Bearer y"),
            ("referer", "no"),
            ("cookie", "c=3"),
        ];
        let own = request(Method::GET, "http://a/", &own, "");
        let expected = "GET / HTTP/1.1/Host: a/user-agent: me/authorization: Bearer y/referer: no/Cookie: c=3; a=1; b=2//";
        assert_eq!(lines(&own, &additions), expected);
        let hidden = Additions {
            hides_authorization: true,
            ..additions
        };
        let expected = "GET / HTTP/1.1/Host: a/user-agent: me/referer: no/Authorization: Basic x/Cookie: c=3; a=1; b=2//";
        assert_eq!(lines(&own, &hidden), expected);
    }

    #[test]
    fn a_proxy_gets_the_whole_url() {
        let proxy: Proxy = "u:p@proxy.test:1".parse().unwrap();
        let additions = Additions {
            proxy: Some(&proxy),
            ..NOTHING
        };
        let through = request(Method::GET, "http://me:pw@a.test:81/x?y", &[], "");
        let expected = "GET http://a.test:81/x?y HTTP/1.1/Host: a.test:81/Proxy-Authorization: Basic dTpw//";
        assert_eq!(lines(&through, &additions), expected);
    }

    #[test]
    fn nothing_is_smuggled_in() {
        for (name, value) in [
            ("A", "x\r\nB: y"),
            ("A\r\nB", "x"),
            ("", "x"),
            ("A:", "x"),
            ("Host", "a\nb"),
            ("A", "x\u{1}"),
        ] {
            let request = request(Method::GET, "http://a/", &[(name, value)], "");
            assert!(
                matches!(write(&request, &NOTHING), Err(HttpError::Field(_))),
                "{name:?}"
            );
        }
    }

    #[test]
    fn http2_gets_the_same_fields() {
        let request = request(
            Method::GET,
            "https://a.test:99/x?y",
            &[("X-A", "1"), ("Connection", "close")],
            "",
        );
        let head = write(&request, &NOTHING).unwrap();
        let converted = for_http2(&request, &head).unwrap();
        assert_eq!(converted.uri(), "https://a.test:99/x?y");
        let fields: Vec<_> = converted
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        assert_eq!(fields, [("x-a", &b"1"[..])]);
    }
}
