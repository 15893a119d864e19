//! The URLs of requests. Scripts ask for the same ones again and again, and a thread keeps those that it has read last.

use std::{cell::RefCell, collections::HashMap};

use plimsoll_clients::http::Url;

use super::{INVALID_URL, Problem};

/// k6's number for failures without one of their own.
const UNSUPPORTED: u16 = 1000;

/// How many URLs a thread keeps. With one more, it forgets all of them.
const MOST: usize = 64;

/// Longer ones are not kept, in bytes.
const LONGEST: usize = 1024;

thread_local! {
    static KEPT: RefCell<HashMap<Box<str>, Url>> = RefCell::default();
}

/// The URL that a script asks for by this text.
///
/// # Errors
/// It cannot be requested.
pub(super) fn read(text: &str) -> Result<Url, Problem> {
    KEPT.with_borrow_mut(|kept| {
        if let Some(url) = kept.get(text) {
            return Ok(url.clone());
        }
        let url = parse(text)?;
        if text.len() <= LONGEST {
            if kept.len() == MOST {
                kept.clear();
            }
            kept.insert(text.into(), url.clone());
        }
        Ok(url)
    })
}

fn parse(text: &str) -> Result<Url, Problem> {
    let problem = |code, text: String| Err(Problem { text, code });
    let unsupported = |scheme: &str| problem(UNSUPPORTED, format!("unsupported protocol scheme {scheme:?}"));
    // The standard leaves them out, and so would ask for something else than the script.
    if text.trim().contains(|c: char| c.is_ascii_control()) {
        return problem(INVALID_URL, "invalid URL: it has a control character".to_owned());
    }
    // The standard takes the first word of the path for the host.
    let rest = text.split_once("://").map(|(_, rest)| rest);
    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#'])) {
        return problem(UNSUPPORTED, "http: no Host in request URL".to_owned());
    }
    match Url::parse(text.trim()) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        Ok(url) => unsupported(url.scheme()),
        Err(_) if rest.is_none() => unsupported(""),
        Err(error) => problem(INVALID_URL, format!("invalid URL: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_cannot_be_requested_have_the_numbers_of_k6() {
        let check = |url: &str, expected: u16| {
            let code = parse(url).map_or_else(|problem| problem.code, |_| 0);
            assert_eq!(code, expected, "{url:?}");
        };
        check("http://a.test/x y", 0);
        check(" http://a.test\n", 0);
        check("HTTP://a.test", 0);
        for none in [
            "",
            "/x",
            "a.test",
            "ftp://a.test/",
            "http://",
            "http:///x",
            "https://?x",
        ] {
            check(none, UNSUPPORTED);
        }
        for none in [
            "http://a.test/\r\nX: y",
            "http://a\tb/",
            "http://a b/",
            "http://[",
            "http://a:99999",
        ] {
            check(none, INVALID_URL);
        }
    }

    #[test]
    fn urls_are_the_same_when_they_are_read_again() {
        let check = |n: usize| {
            let text = format!("http://a.test/{n}");
            let url = read(&text).map_or_else(|problem| problem.text, String::from);
            assert_eq!(url, text);
        };
        for n in (0..=MOST).chain(0..3) {
            check(n);
            check(n);
            assert!(KEPT.with_borrow(HashMap::len) <= MOST);
        }
        let long = format!("http://a.test/{}", "x".repeat(LONGEST));
        assert!(read(&long).is_ok());
        assert!(KEPT.with_borrow(|kept| !kept.contains_key(long.as_str())));
    }
}
