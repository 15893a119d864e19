//! The arguments of the process. Flag names are as AnyCable takes them: `-` and `_` are the same.

use std::ffi::OsString;

mod typed;

pub(crate) use typed::typed;

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
    fn underscores_in_flag_names_are_dashes() {
        check(&["--ping_interval", "a_b"], &["--ping-interval", "a_b"]);
        check(&["--broadcast_key=a_b=c_d"], &["--broadcast-key=a_b=c_d"]);
        check(&["-x_y", "x_y"], &["-x_y", "x_y"]);
        check(&["--a_b", "--", "--c_d"], &["--a-b", "--", "--c_d"]);
    }
}
