//! URLs for errors, logs and pages: without users and passwords.
//!
//! A URL is shown most often when it does not parse, so this code does not parse it either.

use std::borrow::Cow;

/// Replaces the user and the password.
const HIDDEN: &str = "***";

/// The text of a URL with `***` instead of its user and password.
///
/// Users and passwords end at the last `@`. A password may contain a `/`, a `?` or a `#` that should have been escaped,
/// so an `@` after these counts too, unless the text before them can be a host of a web URL. Without a scheme only
/// `user:password@…` has a password.
pub fn url(text: &str) -> Cow<'_, str> {
    let (scheme, rest) = match text.find("://") {
        Some(colon) => text.split_at(colon + 3),
        None => ("", text),
    };
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let end = if is_of_the_web(scheme) && is_host(authority) {
        None
    } else {
        rest.rfind('@')
    };
    match end {
        Some(end) if !scheme.is_empty() || rest[..end].contains(':') => {
            Cow::Owned(format!("{scheme}{HIDDEN}{}", &rest[end..]))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Whether paths may have an `@`, as in `https://example.com/@user`.
fn is_of_the_web(scheme: &str) -> bool {
    ["http://", "https://", "ws://", "wss://"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Whether an authority is a host, perhaps with a port, and nothing else.
fn is_host(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    !host.is_empty() && !authority.contains('@') && port.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(url(text), expected, "{text}");
    }

    #[test]
    fn users_and_passwords_are_hidden_even_in_what_is_no_url() {
        check("redis://kay:secret@h:6379/1", "redis://***@h:6379/1");
        check("redis://:secret@h", "redis://***@h");
        check("redis://kay:sec/ret@h", "redis://***@h");
        check("redis://:12/34@h", "redis://***@h");
        check("redis://kay:s@cre#t@h:x", "redis://***@h:x");
        check("http://kay:sec/ret@h/", "http://***@h/");
        check("http://kay:sec?ret@h/", "http://***@h/");
        check("HTTP://kay:secret@h/@x", "HTTP://***@x");
        check("https://kay@h", "https://***@h");
        check("://kay:secret@h", "://***@h");
        check("kay:secret@h:50051", "***@h:50051");
        check("grpc-list://a:1,kay:secret@b:2", "grpc-list://***@b:2");
        check("wss:/kay:secret@h", "***@h");
    }

    #[test]
    fn everything_else_is_shown() {
        for text in [
            "",
            "localhost:50051",
            "redis://localhost:6379",
            "https://jslib.example/@scope/name.js",
            "http://[::1]:8080/?user=a@b",
            "ws://10.0.0.1/cable#a@b",
            "somebody@example.com",
            "K6=a@b",
        ] {
            check(text, text);
        }
    }
}
