//! The call of a script: the arguments of `http.request` and similar functions.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use plimsoll_clients::http::{CookieJar, Request};

use super::expected::Expected;

mod reading;
mod urls;

/// k6's error number for an invalid URL.
pub(super) const INVALID_URL: u16 = 1020;

/// One request, and the use of its answer.
pub(super) struct Call {
    pub(super) request: Request,
    /// The URL as the script has it.
    pub(super) url: String,
    /// The URL without a password, for tags and logs.
    pub(super) shown_url: String,
    /// The value of the tags `name` and `url`; `None` for the URL.
    pub(super) name: Option<String>,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) jar: Option<Rc<RefCell<CookieJar>>>,
    pub(super) expected: Option<Rc<Expected>>,
    pub(super) body: BodyType,
    /// The body of the request as the script gave it, where it was compressed.
    pub(super) plain_body: Option<Vec<u8>>,
    /// Whether a failure is an exception.
    pub(super) throws: bool,
    /// Whether the limit of redirects was the script's own, so that it knows of it.
    pub(super) has_own_limit: bool,
}

/// The type of `Response.body`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyType {
    Text,
    Binary,
    Nothing,
}

/// A call that cannot be made. It fails like one that could not connect.
pub(super) struct Unusable {
    /// The call of the script, without the URL of its request.
    pub(super) call: Call,
    pub(super) problem: Problem,
}

/// Why a URL cannot be requested.
pub(super) struct Problem {
    /// The message that scripts see.
    pub(super) text: String,
    /// k6's number.
    pub(super) code: u16,
}

impl Problem {
    /// Whether the call produces a sample: k6 records no sample for an unreadable URL.
    pub(super) fn is_recorded(&self) -> bool {
        self.code != INVALID_URL
    }
}

impl Call {
    /// A field of the request that the script set.
    pub(super) fn has_header(&self, name: &str) -> bool {
        self.request
            .headers
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name))
    }
}

/// Users and passwords are not for tags and logs.
pub(super) fn without_password(url: &str) -> String {
    if !url.contains('@') {
        return url.to_owned();
    }
    let masked = || {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@')?;
        let stars = if user.contains(':') { "****:****" } else { "****" };
        Some(format!("{scheme}://{stars}@{host}{}", &rest[end..]))
    };
    // Not a URL as k6 knows it: it stands in an error.
    masked().unwrap_or_else(|| plimsoll_redacted::url(url).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_masked() {
        let check = |url: &str, expected: &str| assert_eq!(without_password(url), expected);
        check("http://a.test/x@y", "http://a.test/x@y");
        check("http://u:p@a.test:80/x@y", "http://****:****@a.test:80/x@y");
        check("https://u@a.test", "https://****@a.test");
        check("nothing", "nothing");
    }
}
