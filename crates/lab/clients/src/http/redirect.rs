//! Redirects (RFC 9110 §15.4), with the rules of Go's client, and so of k6.

use http::Method;
use url::Url;

use super::{HttpError, Redirects, Request, Response};

/// Fields that speak of a body that is not sent again.
const OF_THE_BODY: [&str; 4] = [
    "content-type",
    "content-encoding",
    "content-language",
    "content-location",
];

/// Fields that another host must not see.
const OF_THE_HOST: [&str; 4] = ["authorization", "cookie", "cookie2", "www-authenticate"];

/// The destination, if the response is a redirect with a location.
pub(super) fn location(url: &Url, response: &Response) -> Option<Result<Url, HttpError>> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response
        .headers
        .text("location")
        .filter(|location| !location.is_empty())?;
    Some(match url.join(location) {
        Ok(mut next) if matches!(next.scheme(), "http" | "https") && next.host_str().is_some() => {
            if next.fragment().is_none() {
                next.set_fragment(url.fragment());
            }
            Ok(next)
        }
        Ok(next) if !matches!(next.scheme(), "http" | "https") => {
            Err(HttpError::Scheme(next.scheme().to_owned()))
        }
        Ok(_) | Err(_) => Err(HttpError::Location(
            plimsoll_redacted::url_with_query(location).into_owned(),
        )),
    })
}

/// Turns a request into the one that follows it.
pub(super) fn follow(request: &mut Request, status: u16, next: Url) {
    let keeps_body = match request.redirects {
        Redirects::Go => matches!(status, 307 | 308),
        Redirects::Got => status != 303,
    };
    if !keeps_body {
        if request.method != Method::HEAD {
            request.method = Method::GET;
        }
        request.body = Vec::new();
    }
    let leaves = !is_within(next.host_str(), request.url.host_str());
    request.headers.retain(|(name, _)| {
        let is_one_of = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
        let is_dropped = (!keeps_body && is_one_of(&OF_THE_BODY))
            || (leaves && is_one_of(&OF_THE_HOST))
            || name.eq_ignore_ascii_case("host");
        !is_dropped
    });
    request.url = next;
}

/// The `Referer` for the next server: nothing if the previous page came over TLS and the next one does not.
pub(super) fn referer(before: &Url, next: &Url) -> Option<String> {
    if before.scheme() == "https" && next.scheme() == "http" {
        return None;
    }
    let mut referer = before.clone();
    // Only URLs without a host refuse these.
    let _ = referer.set_username("");
    let _ = referer.set_password(None);
    referer.set_fragment(None);
    Some(referer.into())
}

/// Whether a host equals another one or is below it.
fn is_within(host: Option<&str>, of: Option<&str>) -> bool {
    let (Some(host), Some(of)) = (host, of) else {
        return false;
    };
    host == of || host.strip_suffix(of).is_some_and(|front| front.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Headers, KeptBodies, Protocol};

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn a_location_is_relative_to_the_url() {
        let check = |status: u16, location: &str, expected: Option<Result<&str, &str>>| {
            let fields: [(&[u8], &[u8]); 1] = [(b"Location", location.as_bytes())];
            let response = Response {
                protocol: Protocol::Http11,
                status,
                reason: "".into(),
                headers: Headers::new(99, fields.into_iter()),
                body: Vec::new(),
                share: KeptBodies::new(0).share(),
            };
            let found = super::location(&url("http://a.test/x/y?z#f"), &response);
            let found = found.map(|found| found.map(String::from).map_err(|error| error.to_string()));
            assert_eq!(
                found,
                expected.map(|found| found.map(Into::into).map_err(Into::into))
            );
        };
        check(200, "/b", None);
        check(304, "/b", None);
        check(302, "", None);
        check(302, "/b", Some(Ok("http://a.test/b#f")));
        check(301, "b?c#d", Some(Ok("http://a.test/x/b?c#d")));
        check(308, "//b.test", Some(Ok("http://b.test/#f")));
        check(
            302,
            "ftp://b.test",
            Some(Err("unsupported protocol scheme \"ftp\"")),
        );
        check(
            302,
            "http://[",
            Some(Err("failed to parse Location header \"http://[\"")),
        );
    }

    #[test]
    fn a_request_is_rewritten_as_browsers_do() {
        let check = |method: Method, status: u16, next: &str, expected: &str| {
            let headers = ["Content-Type", "Authorization", "X", "Host"];
            let mut request = Request {
                headers: headers.map(|name| (name.to_owned(), "v".to_owned())).into(),
                body: b"body".to_vec(),
                ..Request::new(method, url("http://a.test/"))
            };
            follow(&mut request, status, url(next));
            let names: Vec<_> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
            let got = format!("{} {} {}", request.method, request.body.len(), names.join(","));
            assert_eq!(got, expected);
        };
        check(Method::POST, 302, "http://a.test/2", "GET 0 Authorization,X");
        check(Method::PUT, 303, "http://b.a.test/", "GET 0 Authorization,X");
        check(Method::HEAD, 301, "http://b.test/", "HEAD 0 X");
        check(
            Method::POST,
            307,
            "http://a.test/2",
            "POST 4 Content-Type,Authorization,X",
        );
        check(Method::POST, 308, "http://ba.test/", "POST 4 Content-Type,X");
    }

    #[test]
    fn a_referer_tells_no_secrets() {
        let check = |before: &str, next: &str, expected: Option<&str>| {
            assert_eq!(referer(&url(before), &url(next)).as_deref(), expected);
        };
        check("http://u:p@a/x#f", "http://b/", Some("http://a/x"));
        check("https://a/", "http://b/", None);
    }
}
