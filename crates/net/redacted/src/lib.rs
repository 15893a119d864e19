//! URLs for errors, logs and pages: without users, passwords and tokens.
//!
//! A URL is shown most often when it does not parse, so this code does not parse it either.

mod secret;

use std::borrow::Cow;

pub use self::secret::{is_secret_name, is_secret_value};

/// What is shown in place of users, passwords and other secrets.
pub const HIDDEN: &str = "***";

/// The characters before a parameter.
const SEPARATORS: [char; 3] = ['?', '&', '#'];

/// The text of a URL with `***` instead of its user and password, or of each URL of a list with commas.
///
/// Users and passwords end at the last `@`. A password may contain a `/`, a `?` or a `#` that should have been escaped,
/// so an `@` after these counts too, unless the text before them can be a host of a web URL. Without a scheme only
/// `user:password@…` has a password. A comma may be part of a password, too, unless each text between commas can be the
/// address of a server. URLs of the web are no lists.
pub fn url(text: &str) -> Cow<'_, str> {
    if !is_list(text) {
        return one_url(text);
    }
    let shown: Vec<_> = text.split(',').map(one_url).collect();
    if shown.iter().all(|one| matches!(one, Cow::Borrowed(_))) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shown.join(","))
}

/// The text of a URL with `***` instead of its user, its password and the secrets of its query, such as tokens.
///
/// A secret may contain a `?` or a `#` that should have been escaped, so it ends at an `&` only. Parameters behind a `#`
/// are hidden, too.
pub fn url_with_query(text: &str) -> Cow<'_, str> {
    let text = url(text);
    let mut shown = String::new();
    let mut n_shown = 0;
    let mut start = next(&text, 0, &SEPARATORS);
    while start < text.len() {
        let mut end = next(&text, start + 1, &SEPARATORS);
        let parameter = &text[start + 1..end];
        if is_secret_parameter(parameter) {
            let name = name_of(parameter);
            end = next(&text, end, &['&']);
            shown.push_str(&text[n_shown..=start]);
            shown.push_str(name);
            shown.push('=');
            shown.push_str(HIDDEN);
            n_shown = end;
        }
        start = end;
    }
    if n_shown == 0 {
        return text;
    }
    shown.push_str(&text[n_shown..]);
    Cow::Owned(shown)
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

/// The place of the next of some characters, or the end of the text.
fn next(text: &str, start: usize, wanted: &[char]) -> usize {
    text[start..].find(wanted).map_or(text.len(), |n| start + n)
}

/// Whether the text is a list of addresses with commas between them.
fn is_list(text: &str) -> bool {
    !is_of_the_web(split_scheme(text).0) && text.contains(',') && text.split(',').all(is_address)
}

/// Whether a text is `[scheme://][user:password@]host[:port][/…]`. A user without a password needs the scheme:
/// otherwise it may be the rest of a password.
fn is_address(text: &str) -> bool {
    let (scheme, rest) = split_scheme(text.trim());
    let (user, server) = rest.rsplit_once('@').unwrap_or((":", rest));
    (!scheme.is_empty() || user.contains(':')) && is_host(authority(server))
}

fn one_url(text: &str) -> Cow<'_, str> {
    let (scheme, rest) = split_scheme(text);
    let end = if is_of_the_web(scheme) && is_host(authority(rest)) {
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

/// The scheme with its `://`, or nothing, and the rest.
fn split_scheme(text: &str) -> (&str, &str) {
    text.split_at(text.find("://").map_or(0, |colon| colon + 3))
}

/// The text before the path, the query and the fragment.
fn authority(rest: &str) -> &str {
    &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())]
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
        check("wss:/kay:secret@h", "***@h");
    }

    #[test]
    fn all_hosts_of_a_list_are_shown() {
        check("redis://:secret@a:1,b:2", "redis://***@a:1,b:2");
        check("redis://a:1,redis://:secret@b:2", "redis://a:1,redis://***@b:2");
        check("redis://:se@a:1,:cret@b:2/0, c", "redis://***@a:1,***@b:2/0, c");
        check("grpc-list://a:1,kay:secret@b:2", "grpc-list://a:1,***@b:2");
        check("10.0.0.1,:secret@[::1]:26380", "10.0.0.1,***@[::1]:26380");
        check(
            "nats://token@a,nats://b,nats://kay@c",
            "nats://***@a,nats://b,nats://***@c",
        );
        // The comma may be that of a password.
        check("redis://:sec,ret@h:1", "redis://***@h:1");
        check("redis://kay:sec,ret@h:1", "redis://***@h:1");
        check("redis://kay:12,34@h:1", "redis://***@h:1");
        check("redis://kay:sec,r:et@h:1,i:2", "redis://***@h:1,i:2");
        check("redis://a:1,redis://:secret@b:x", "redis://***@b:x");
        check("http://kay:sec,r:et@h/", "http://***@h/");
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
                "wss://h/?vsn=2&access_token=***&room=1&token=***&token=***",
                vec!["access_token", "token"],
                "wss://h/?vsn=2&room=1#x",
            ),
            (
                "wss://h:99999/?token=a#b?c&room=1#x",
                "wss://h:99999/?token=***&room=1#x",
                vec!["token"],
                "wss://h:99999/#b?c&room=1#x",
            ),
            (
                "wss://h/?auth=a&author=b#x",
                "wss://h/?auth=***&author=b#x",
                vec!["auth"],
                "wss://h/?author=b#x",
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
            "ws://h/?author=kay&tokenize=1",
            "ws://h/?jid&token=",
            "ws://h/?",
        ] {
            assert_eq!(url_with_query(text), text);
            assert_eq!(secret_parameters(text), Vec::<&str>::new());
        }
    }

    #[test]
    fn secrets_are_hidden_wherever_a_url_that_does_not_parse_has_them() {
        for (text, shown) in [
            ("wss//x?token=a", "wss//x?token=***"),
            ("?token=a", "?token=***"),
            ("ws://h/#/cable?token=a", "ws://h/#/cable?token=***"),
            ("ws://h/#token=a&x=1", "ws://h/#token=***&x=1"),
            ("ws://h/?to=/x?jid=a", "ws://h/?to=/x?jid=***"),
            ("ws://k:s@h:x/ü?token=ü b", "ws://***@h:x/ü?token=***"),
        ] {
            assert_eq!(url_with_query(text), shown, "{text}");
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
            "redis://a:1,b:2",
            "https://jslib.example/a,b:c@d",
            "K6=a@b",
        ] {
            check(text, text);
        }
    }
}
