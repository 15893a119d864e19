//! The subject of a stream.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// The beginning of the subjects of streams whose names NATS cannot take.
const ENCODED: &str = "_plimsoll.";

/// The longest subject, in bytes. A server accepts lines of 4,096 bytes by default, and a line with a subject has up to
/// two numbers and a verb, too.
const MAX_BYTES: usize = 4000;

/// A name for which there is no subject.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[error("the name of the stream has {n_bytes} bytes, more than fit into a subject of NATS")]
pub struct NameTooLong {
    /// The length of the name.
    pub n_bytes: usize,
}

/// The subject of a stream: its name, as with AnyCable. A name that is no subject, because it has spaces, wildcards or
/// empty parts, has `_plimsoll.` and its base64 (RFC 4648 §5, without padding) as its subject. AnyCable has none for
/// such names (docs/protocols/cluster.md, Names).
///
/// # Errors
/// The name is too long.
pub fn subject(name: &str) -> Result<Cow<'_, str>, NameTooLong> {
    let subject = if is_subject(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("{ENCODED}{}", URL_SAFE_NO_PAD.encode(name)))
    };
    if subject.len() <= MAX_BYTES {
        Ok(subject)
    } else {
        Err(NameTooLong { n_bytes: name.len() })
    }
}

/// A name as one part of a subject: its base64 (RFC 4648 §5, without padding). That of the empty name is empty, and so no
/// part.
pub fn token(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(name)
}

/// Whether a name is a subject without wildcards that stands for nothing else. Subjects that begin with `$` belong to
/// the server, and those of encoded names to their streams.
fn is_subject(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !matches!(part, "*" | ">") && !part.contains(is_separator);
    name.split('.').all(is_part) && !name.starts_with('$') && !name.starts_with(ENCODED)
}

/// Characters that end an argument, and those that no part of the system should have to print.
fn is_separator(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(subject(name).expect("it is short"), expected, "{name:?}");
    }

    #[test]
    fn names_are_subjects_where_nats_can_take_them() {
        for name in [
            "chat_1",
            "chat/1",
            "a.b.c",
            "gid://app/User/1",
            "räume",
            "a*b",
            "x>",
            "Z2lkOi8v",
        ] {
            check(name, name);
        }
        check("chat room", "_plimsoll.Y2hhdCByb29t");
        check("*", "_plimsoll.Kg");
        check("a.*.b", "_plimsoll.YS4qLmI");
        check("a.>", "_plimsoll.YS4-");
        check("", "_plimsoll.");
        check(".a", "_plimsoll.LmE");
        check("a..b", "_plimsoll.YS4uYg");
        check("a.", "_plimsoll.YS4");
        check("a\r\nPING", "_plimsoll.YQ0KUElORw");
        check("$SYS.REQ", "_plimsoll.JFNZUy5SRVE");
        check("_plimsoll.Kg", "_plimsoll.X3BsaW1zb2xsLktn");
    }

    #[test]
    fn names_that_are_too_long_have_none() {
        assert!(subject(&"a".repeat(4000)).is_ok());
        assert_eq!(subject(&"a".repeat(4001)), Err(NameTooLong { n_bytes: 4001 }));
        assert_eq!(subject(&" ".repeat(3000)), Err(NameTooLong { n_bytes: 3000 }));
    }

    proptest! {
        #[test]
        fn no_two_names_share_a_subject(names in prop::collection::vec("[a*> ._$\n]{0,6}|_plimsoll[.][A-Za-z]{0,4}", 1..40)) {
            let mut by_subject = HashMap::new();
            for name in names {
                let subject = subject(&name).expect("it is short").into_owned();
                prop_assert!(!subject.contains(char::is_whitespace));
                let other = by_subject.entry(subject).or_insert_with(|| name.clone());
                prop_assert_eq!(&*other, &name);
            }
        }
    }
}
