//! The command line as reports and the history keep it: without secrets.

use std::iter;

use plimsoll_redacted::{HIDDEN, is_secret_name, is_secret_value, url_with_query};

/// The ends of names whose values are secrets here, besides those of parameters of URLs.
const SECRET_ENDS: [&str; 4] = ["key", "cookie", "pass", "passwd"];

/// The command line of this process for reports, without the program, whose path on this machine means nothing to
/// readers elsewhere, and without the secrets of URLs and flags. Invalid UTF-8 is replaced.
pub(crate) fn typed() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    iter::once(env!("CARGO_PKG_NAME").to_owned())
        .chain(without_secrets(words))
        .collect()
}

/// What the value of a flag may hold.
#[derive(Clone, Copy)]
enum Value {
    /// A header, `Name: value`.
    Header,
    /// A variable, `NAME=value`.
    Variable,
    /// Nothing but a secret.
    Secret,
    /// At most the secrets of a URL.
    Plain,
}

impl Value {
    /// What the value of this flag holds, in each command whose command line is kept. `-e` is also a file, for
    /// `bench http`, and is shown unless it looks like a variable with a secret.
    fn of(flag: &str) -> Self {
        match flag {
            "-H" | "--header" => Self::Header,
            "-e" | "--env" => Self::Variable,
            "-A" | "--auth" | "-C" | "--cookie" | "-P" | "--proxy-auth" => Self::Secret,
            "--broadcast-key" | "--secret-source" => Self::Secret,
            _ => Self::Plain,
        }
    }

    fn shown(self, text: &str) -> String {
        let separator = match self {
            Self::Header => ':',
            Self::Variable => '=',
            Self::Secret => return HIDDEN.to_owned(),
            Self::Plain => return without_secrets_of_url(text),
        };
        match text.split_once(separator) {
            Some((name, value)) if is_secret(name, value.trim()) => {
                let space = if value.starts_with(' ') { " " } else { "" };
                format!("{name}{separator}{space}{HIDDEN}")
            }
            _ => without_secrets_of_url(text),
        }
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    let small = name.to_ascii_lowercase();
    SECRET_ENDS.iter().any(|end| small.ends_with(end)) || is_secret_name(name) || is_secret_value(value)
}

fn without_secrets(words: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    // What the next word is.
    let mut value = Value::Plain;
    words.map(move |word| {
        let this = std::mem::replace(&mut value, Value::Plain);
        if !matches!(this, Value::Plain) {
            return this.shown(&word);
        }
        let n = n_before_value(&word);
        let (before, rest) = word.split_at(n);
        let of_flag = Value::of(&super::dashed(before.trim_end_matches('=')));
        if rest.is_empty() {
            value = of_flag;
            return without_secrets_of_url(&word);
        }
        format!("{before}{}", of_flag.shown(rest))
    })
}

/// The bytes before the value of a flag that has it in the same word, as `--env=A=b` and `-eA=b`; of any other word all.
fn n_before_value(word: &str) -> usize {
    let n = if word.starts_with("--") {
        word.find('=').map(|equals| equals + 1)
    } else if word.starts_with('-') {
        word.char_indices().nth(2).map(|(at, _)| at)
    } else {
        None
    };
    n.unwrap_or(word.len())
}

/// A word without the user, the password and the tokens of a URL, which may stand behind something else as in
/// `URL=ws://…`.
fn without_secrets_of_url(word: &str) -> String {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let before_url = match word.find("://") {
        Some(colon) => word[..colon].trim_end_matches(is_of_scheme),
        // Some commands take URLs without a scheme.
        None if word.contains('?') => "",
        None => word,
    };
    let url = &word[before_url.len()..];
    format!("{before_url}{}", url_with_query(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], expected: &[&str]) {
        let shown: Vec<_> = without_secrets(words.iter().map(|&word| word.to_owned())).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn urls_are_shown_without_secrets() {
        let check = |word: &str, expected: &str| check(&[word], &[expected]);
        check("ws://h/cable?jid=s3cret&room=1", "ws://h/cable?jid=***&room=1");
        check("URL=ws://kay:s3cret@h/", "URL=ws://***@h/");
        check("--env=URL=ws://h/?token=s3cret", "--env=URL=ws://h/?token=***");
        check("URL=ws://h/@kay?a=b@c", "URL=ws://h/@kay?a=b@c");
        check("h:8080/?token=s3cret", "h:8080/?token=***");
        for word in [
            "",
            "-",
            "--",
            "--=",
            "-é",
            "-é=",
            "--slo",
            "checks rate>0.99",
            "chat.js",
            "ws://h/?author=kay",
            r#"{"channel":"C","email":"kay@h"}"#,
            "--threshold=token_time:p(95)<200",
        ] {
            check(word, word);
        }
    }

    #[test]
    fn flags_are_shown_without_secrets() {
        for (words, expected) in [
            (
                &["-H", "Authorization: Bearer s3cret"][..],
                &["-H", "Authorization: ***"][..],
            ),
            (&["--header=X-Api-Key:s3cret"], &["--header=X-Api-Key:***"]),
            (&["-HCookie: id=s3cret"], &["-HCookie: ***"]),
            (&["-H", "X-Id: eyJh.eyJz.s3cret"], &["-H", "X-Id: ***"]),
            (
                &["-H", "Accept: text/html", "chat.js"],
                &["-H", "Accept: text/html", "chat.js"],
            ),
            (
                &["-e", "API_TOKEN=s3cret", "-e", "VUS=5"],
                &["-e", "API_TOKEN=***", "-e", "VUS=5"],
            ),
            (&["--env=DB_PASSWORD=s=3cret"], &["--env=DB_PASSWORD=***"]),
            (&["-eAPI_KEY=s3cret"], &["-eAPI_KEY=***"]),
            (
                &["--env", "URL=ws://kay:s3cret@h/"],
                &["--env", "URL=ws://***@h/"],
            ),
            (&["-A", "kay:s3cret", "http://h/"], &["-A", "***", "http://h/"]),
            (&["-Akay:s3cret", "-P", "kay:s3cret"], &["-A***", "-P", "***"]),
            (
                &["--proxy_auth=kay:s3cret", "-C", "id=s3cret"],
                &["--proxy_auth=***", "-C", "***"],
            ),
            (&["--broadcast-key", "s3cret"], &["--broadcast-key", "***"]),
            (&["--secret-source", "mock=a=s3cret"], &["--secret-source", "***"]),
            (&["--fleet-secrets", "chat.js"], &["--fleet-secrets", "chat.js"]),
            (&["-e"], &["-e"]),
        ] {
            check(words, expected);
        }
    }
}
