//! Decides who may broadcast without a key.
//!
//! A port that only this machine reaches is also reached by its browsers, and so by every page that they show: with a
//! form or a `fetch` that needs no permission, or under a name that was pointed to this machine (DNS rebinding).
//! Backends send none of the headers that identify browsers.

use http::HeaderMap;
use plimsoll_loopback::Origin;

use crate::AllowedOrigins;

const FOREIGN_HOST: &str = "Without a key, the server accepts broadcasts only under a name of this machine, such as \
    localhost. Set --broadcast_key to accept them under other names.";
const FOREIGN_PAGE: &str = "Without a key, web pages of other sites must not broadcast. Set --broadcast_key, or \
    allow pages with --http_broadcast_cors and --allowed_origins.";

/// Checks the head of a request without a key. `own_host` is given if the listener is for this machine only; it counts
/// as a name of this machine. `allowed_pages` may broadcast, if there are any.
pub(super) fn check(
    headers: &HeaderMap,
    own_host: Option<&str>,
    allowed_pages: Option<&AllowedOrigins>,
) -> Result<(), &'static str> {
    let origin = Origin::of(headers);
    if own_host.is_some_and(|own_host| !is_local(&origin, own_host)) {
        return Err(FOREIGN_HOST);
    }
    let is_allowed = origin
        .origin
        .is_some_and(|page| allowed_pages.is_some_and(|pages| pages.lists(page)));
    if is_allowed || origin.is_own() {
        Ok(())
    } else {
        Err(FOREIGN_PAGE)
    }
}

/// Whether `Host` is a name of this machine. A missing `Host` passes, because no browser omits it.
fn is_local(origin: &Origin<'_>, own_host: &str) -> bool {
    origin.host.is_none_or(|host| {
        let name = host.rsplit_once(':').map_or(host, |(name, _port)| name);
        origin.names_this_machine() || name.eq_ignore_ascii_case(own_host)
    })
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[track_caller]
    fn check_request(
        own_host: Option<&str>,
        allowed: Option<&str>,
        lines: &[(&'static str, &'static str)],
        expected: Result<(), &str>,
    ) {
        let headers = lines
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let allowed: Option<AllowedOrigins> = allowed.map(|list| list.parse().expect("a list"));
        let found = check(&headers.collect(), own_host, allowed.as_ref());
        assert_eq!(found, expected, "{lines:?}");
    }

    #[test]
    fn programs_of_this_machine_may_broadcast() {
        for lines in [
            vec![],
            vec![("host", "localhost:8090")],
            vec![("host", "127.0.0.1:8090")],
            vec![("host", "[::1]:8090")],
            vec![("host", "cable.test:8090")],
            vec![("host", "localhost:9999"), ("sec-fetch-mode", "cors")],
            vec![
                ("host", "localhost:8090"),
                ("origin", "http://localhost:8090"),
                ("sec-fetch-site", "same-origin"),
            ],
        ] {
            check_request(Some("cable.test"), None, &lines, Ok(()));
        }
    }

    #[test]
    fn pages_of_other_sites_and_names_that_point_here_may_not() {
        for (lines, expected) in [
            (vec![("host", "evil.example:8090")], FOREIGN_HOST),
            (vec![("host", "localhost.evil.example")], FOREIGN_HOST),
            (
                vec![
                    ("host", "evil.example:8090"),
                    ("origin", "http://evil.example:8090"),
                ],
                FOREIGN_HOST,
            ),
            (
                vec![("host", "localhost:8090"), ("origin", "https://evil.example")],
                FOREIGN_PAGE,
            ),
            (
                vec![("host", "localhost:8090"), ("origin", "http://localhost:3000")],
                FOREIGN_PAGE,
            ),
            (vec![("host", "localhost:8090"), ("origin", "null")], FOREIGN_PAGE),
            (
                vec![("host", "localhost:8090"), ("sec-fetch-site", "cross-site")],
                FOREIGN_PAGE,
            ),
            (
                vec![("host", "localhost:8090"), ("sec-fetch-site", "same-site")],
                FOREIGN_PAGE,
            ),
        ] {
            check_request(Some("localhost"), None, &lines, Err(expected));
        }
    }

    #[test]
    fn pages_that_are_listed_may_broadcast() {
        let page = [
            ("host", "localhost:8090"),
            ("origin", "https://app.example"),
            ("sec-fetch-site", "cross-site"),
        ];
        check_request(Some("localhost"), Some("app.example"), &page, Ok(()));
        check_request(Some("localhost"), Some("other.example"), &page, Err(FOREIGN_PAGE));
        // Without a list no page may broadcast, unlike pages with a key.
        check_request(Some("localhost"), Some(""), &page, Err(FOREIGN_PAGE));
    }

    #[test]
    fn a_port_that_is_open_to_others_has_any_name_but_no_pages() {
        check_request(None, None, &[("host", "plimsoll:8090")], Ok(()));
        let page = [("host", "plimsoll:8090"), ("origin", "http://evil.example")];
        check_request(None, None, &page, Err(FOREIGN_PAGE));
    }
}
