//! User and password of a request.

use base64::{Engine, prelude::BASE64_STANDARD};
use url::Url;

use super::Request;

/// User and password of a URL, decoded; `None` if it has neither.
pub(super) fn of_url(url: &Url) -> Option<(String, String)> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decode = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8_lossy()
            .into_owned()
    };
    Some((decode(url.username()), decode(url.password().unwrap_or_default())))
}

/// User and password of a request's `Authorization` field if it has one, and of its URL otherwise. `None` if the field
/// has another scheme than Basic.
pub(super) fn of_request(request: &Request) -> Option<(String, String)> {
    let mut fields = request.headers.iter();
    let field = fields.find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    match field {
        Some((_, value)) => of_basic(value),
        None => of_url(&request.url),
    }
}

fn of_basic(field: &str) -> Option<(String, String)> {
    let (scheme, encoded) = field.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// The `Authorization` field with user and password of the URL (RFC 7617).
pub(super) fn basic(request: &Request) -> Option<String> {
    let (user, password) = of_url(&request.url)?;
    Some(format!(
        "Basic {}",
        BASE64_STANDARD.encode(format!("{user}:{password}"))
    ))
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    #[test]
    fn a_field_of_the_request_comes_first() {
        let check = |url: &str, field: Option<&str>, expected: Option<(&str, &str)>| {
            let mut request = Request::new(Method::GET, url.parse().unwrap());
            let fields = field.map(|value| ("authorization".to_owned(), value.to_owned()));
            request.headers.extend(fields);
            let found = of_request(&request);
            let found = found.as_ref().map(|(user, password)| (&**user, &**password));
            assert_eq!(found, expected, "{url} {field:?}");
        };
        check("http://a/", None, None);
        check(r"http://D%5Cu:p%40@a/", None, Some((r"D\u", "p@")));
        check("http://u:p@a/", Some("Basic dTI6cDI6Mw=="), Some(("u2", "p2:3")));
        check("http://u:p@a/", Some("Bearer x"), None);
        check("http://a/", Some("Basic !"), None);
    }
}
