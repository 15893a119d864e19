//! URLs for errors, logs and pages: without users, passwords and tokens.
//!
//! A URL is shown most often when it does not parse, so this code does not parse it either.

mod secret;

use std::borrow::Cow;

pub use self::secret::{is_secret_name, is_secret_value};

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

/// The text of a URL with `***` instead of its user, its password and the secrets of its query, such as tokens.
pub fn url_with_query(text: &str) -> Cow<'_, str> {
    let text = url(text);
    let Some((before, query, after)) = split_query(&text) else {
        return text;
    };
    if !query.split('&').any(is_secret_parameter) {
        return text;
    }
    let shown = query.split('&').map(|parameter| {
        let name = name_of(parameter);
        if is_secret_parameter(parameter) {
            Cow::Owned(format!("{name}={HIDDEN}"))
        } else {
            Cow::Borrowed(parameter)
        }
    });
    let shown = shown.collect::<Vec<_>>().join("&");
    Cow::Owned(format!("{before}?{shown}{after}"))
}

/// The names of the parameters of a URL that hold secrets, in their order.
pub fn secret_parameters(url: &str) -> Vec<&str> {
    let query = split_query(url).map_or("", |(_, query, _)| query);
    let mut names: Vec<&str> = Vec::new();
    for name in query
        .split('&')
        .filter(|parameter| is_secret_parameter(parameter))
        .map(name_of)
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The text of a URL without the parameters that hold secrets.
pub fn without_secret_parameters(url: &str) -> Cow<'_, str> {
    let Some((before, query, after)) = split_query(url) else {
        return Cow::Borrowed(url);
    };
    let kept: Vec<&str> = query
        .split('&')
        .filter(|parameter| !is_secret_parameter(parameter))
        .collect();
    let mark = if kept.is_empty() { "" } else { "?" };
    Cow::Owned(format!("{before}{mark}{}{after}", kept.join("&")))
}

/// The text before the query, the query, and the text behind it. None without a query.
fn split_query(url: &str) -> Option<(&str, &str, &str)> {
    let (url, after) = url.split_at(url.find('#').unwrap_or(url.len()));
    let (before, query) = url.split_once('?')?;
    Some((before, query, after))
}

fn name_of(parameter: &str) -> &str {
    parameter.split('=').next().unwrap_or_default()
}

/// Whether `name=value` holds a secret. A name without a value does not.
fn is_secret_parameter(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    !value.is_empty() && (is_secret_name(name) || is_secret_value(value))
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
    fn secrets_of_a_query_are_hidden_named_and_left_out() {
        for (text, shown, names, without) in [
            (
                "ws://h/cable?jid=eyJh.eyJl.c2ln",
                "ws://h/cable?jid=***",
                vec!["jid"],
                "ws://h/cable",
            ),
            (
                "wss://h/?vsn=2&access_token=a%20b&room=1&token=c&token=d#x",
                "wss://h/?vsn=2&access_token=***&room=1&token=***&token=***#x",
                vec!["access_token", "token"],
                "wss://h/?vsn=2&room=1#x",
            ),
            ("h?key=eyJh.eyJl.c2ln", "h?key=***", vec!["key"], "h"),
            (
                "ws://k:s@h/?Auth=x",
                "ws://***@h/?Auth=***",
                vec!["Auth"],
                "ws://k:s@h/",
            ),
        ] {
            assert_eq!(url_with_query(text), shown, "{text}");
            assert_eq!(secret_parameters(text), names, "{text}");
            assert_eq!(without_secret_parameters(text), without, "{text}");
        }
        for text in [
            "",
            "ws://h/cable",
            "ws://h/?EIO=4&transport=websocket",
            "ws://h/?jid&token=",
            "ws://h/#?token=a",
            "ws://h/?",
        ] {
            assert_eq!(url_with_query(text), text);
            assert_eq!(secret_parameters(text), Vec::<&str>::new());
        }
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
