//! The arguments of the process. Flag names are as AnyCable takes them: `-` and `_` are the same.

use std::{ffi::OsString, iter};

/// The command line of this process for reports, without the program, whose path on this machine means nothing to
/// readers elsewhere, and without the secrets of URLs. Invalid UTF-8 is replaced.
pub(crate) fn typed() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    iter::once(env!("CARGO_PKG_NAME").to_owned())
        .chain(words.map(|word| shown(&word.to_string_lossy())))
        .collect()
}

/// A word without the user, the password and the tokens of a URL, which may stand behind something else as in
/// `URL=ws://…`.
fn shown(word: &str) -> String {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let before_url = match word.find("://") {
        Some(colon) => word[..colon].trim_end_matches(is_of_scheme),
        // Some commands take URLs without a scheme.
        None if word.contains('?') => "",
        None => word,
    };
    let url = &word[before_url.len()..];
    let url = plimsoll_redacted::url_with_query(url);
    format!("{before_url}{url}")
}

/// Rewrites `--max_message_size=1` to `--max-message-size=1`. Values and everything after `--` stay.
pub(crate) fn with_dashes(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut is_past_flags = false;
    arguments
        .map(|argument| {
            is_past_flags |= argument == "--";
            match argument.to_str() {
                Some(text) if !is_past_flags && text.starts_with("--") => dashed(text).into(),
                _ => argument,
            }
        })
        .collect()
}

fn dashed(flag: &str) -> String {
    match flag.split_once('=') {
        Some((name, value)) => format!("{}={value}", name.replace('_', "-")),
        None => flag.replace('_', "-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], expected: &[&str]) {
        let got = with_dashes(arguments.iter().map(OsString::from));
        assert_eq!(got, expected.iter().map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn urls_are_shown_without_secrets() {
        let check = |word: &str, expected: &str| assert_eq!(shown(word), expected);
        check("ws://h/cable?jid=s3cret&room=1", "ws://h/cable?jid=***&room=1");
        check("URL=ws://kay:s3cret@h/", "URL=ws://***@h/");
        check("--env=URL=ws://h/?token=s3cret", "--env=URL=ws://h/?token=***");
        check("URL=ws://h/@kay?a=b@c", "URL=ws://h/@kay?a=b@c");
        check("h:8080/?token=s3cret", "h:8080/?token=***");
        for word in [
            "",
            "--slo",
            "checks rate>0.99",
            "chat.js",
            "ws://h/?author=kay",
            r#"{"channel":"C","email":"kay@h"}"#,
        ] {
            check(word, word);
        }
    }

    #[test]
    fn underscores_in_flag_names_are_dashes() {
        check(&["--ping_interval", "a_b"], &["--ping-interval", "a_b"]);
        check(&["--broadcast_key=a_b=c_d"], &["--broadcast-key=a_b=c_d"]);
        check(&["-x_y", "x_y"], &["-x_y", "x_y"]);
        check(&["--a_b", "--", "--c_d"], &["--a-b", "--", "--c_d"]);
    }
}
