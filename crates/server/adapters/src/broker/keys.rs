//! The names of keys and channels (docs/reference/redis-broker.md, Keys).

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// A log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// The log of a stream.
    Stream(&'a str),
    /// The log of commands to all servers.
    Control,
}

/// Makes names. Redis Cluster keeps keys together that have the same text in their first pair of braces, if it is not
/// empty.
#[derive(Debug)]
pub(crate) struct Keys {
    prefix: String,
    is_cluster: bool,
}

/// The name of the log of commands in a cluster.
const CONTROL_IN_CLUSTER: &str = "control:{control}";

/// The beginning of the names of the streams in a cluster whose own names in braces would keep nothing together.
const UNTAGGED: &str = "untagged:{untagged}:";

impl Keys {
    pub(crate) fn new(prefix: String, is_cluster: bool) -> Self {
        Self { prefix, is_cluster }
    }

    /// The beginning of all names of a log.
    pub(crate) fn base(&self, source: Source<'_>) -> String {
        format!("{}:{}", self.prefix, self.name(source))
    }

    fn name(&self, source: Source<'_>) -> String {
        match source {
            Source::Control if self.is_cluster => CONTROL_IN_CLUSTER.to_owned(),
            Source::Control => "control".to_owned(),
            Source::Stream(stream) if self.is_cluster && is_without_tag(stream) => {
                format!("{UNTAGGED}{stream}")
            }
            Source::Stream(stream) => format!("{{{stream}}}"),
        }
    }

    /// The log that a beginning belongs to.
    pub(crate) fn source<'a>(&self, base: &'a str) -> Option<Source<'a>> {
        let name = base.strip_prefix(&*self.prefix)?.strip_prefix(':')?;
        match name {
            CONTROL_IN_CLUSTER if self.is_cluster => return Some(Source::Control),
            "control" if !self.is_cluster => return Some(Source::Control),
            _ => {}
        }
        let untagged = name.strip_prefix(UNTAGGED).filter(|_| self.is_cluster);
        let stream = untagged.or_else(|| name.strip_prefix('{')?.strip_suffix('}'))?;
        Some(Source::Stream(stream))
    }

    /// The record of an idempotency key. Characters that could end the name of the key are escaped.
    pub(super) fn record(&self, source: Source<'_>, key: &str) -> Vec<u8> {
        let mut name = format!("{}:key:", self.prefix);
        for byte in key.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(char::from(byte)),
                _ => write!(name, "%{byte:02X}").expect("memory takes everything"),
            }
        }
        write!(name, ":{}", self.name(source)).expect("memory takes everything");
        name.into_bytes()
    }

    /// A channel that only the process with this name hears.
    pub(super) fn probe(&self, name: &str) -> String {
        format!("{}:probe:{name}", self.prefix)
    }

    /// A record that one server owns.
    pub(super) fn owned(&self, key: &str) -> Vec<u8> {
        format!("{}:record:{key}", self.prefix).into_bytes()
    }

    /// The time at which the records with a guard were revoked. A guard may be long, so its name is a digest.
    pub(super) fn revoked(&self, guard: &str) -> Vec<u8> {
        format!("{}:revoked:{}", self.prefix, digest(guard)).into_bytes()
    }

    /// The servers that are there.
    pub(super) fn servers(&self) -> Vec<u8> {
        format!("{}:servers", self.prefix).into_bytes()
    }
}

/// The SHA-256 of a text in hexadecimal digits.
pub(crate) fn digest(text: &str) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(text) {
        write!(digits, "{byte:02x}").expect("memory takes everything");
    }
    digits
}

/// Whether the name of a stream in braces is no hash tag.
fn is_without_tag(stream: &str) -> bool {
    stream.is_empty() || stream.starts_with('}')
}

/// The stream with the messages.
pub(super) fn log(base: &str) -> Vec<u8> {
    format!("{base}:log").into_bytes()
}

/// The hash with the epoch and the last offset.
pub(super) fn head(base: &str) -> Vec<u8> {
    format!("{base}:head").into_bytes()
}

/// The hash with the members.
pub(super) fn members(base: &str) -> Vec<u8> {
    format!("{base}:members").into_bytes()
}

/// The hash with the number of members that each server has.
pub(super) fn member_counts(base: &str) -> Vec<u8> {
    format!("{base}:servers").into_bytes()
}

/// The channel on which messages are announced.
pub(super) fn channel(base: &str) -> Vec<u8> {
    format!("{base}:pub").into_bytes()
}

/// The beginning that a channel belongs to.
pub(super) fn base_of_channel(channel: &[u8]) -> Option<&str> {
    std::str::from_utf8(channel).ok()?.strip_suffix(":pub")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::slot;

    #[test]
    fn names_lead_back_to_their_log() {
        let keys = Keys::new("plimsoll".to_owned(), false);
        for (source, expected) in [
            (Source::Stream("chat/1"), "plimsoll:{chat/1}"),
            (Source::Stream("a}:log"), "plimsoll:{a}:log}"),
            (Source::Stream(""), "plimsoll:{}"),
            (Source::Stream("control"), "plimsoll:{control}"),
            (Source::Control, "plimsoll:control"),
        ] {
            let base = keys.base(source);
            assert_eq!(base, expected);
            assert_eq!(keys.source(&base), Some(source));
            assert_eq!(base_of_channel(&channel(&base)), Some(&*base));
        }
        assert_eq!(keys.source("other:{a}"), None);
        assert_eq!(keys.source("plimsoll:probe:a"), None);
    }

    #[test]
    fn all_keys_of_a_log_have_one_slot_in_a_cluster() {
        let keys = Keys::new("plimsoll".to_owned(), true);
        for (source, expected) in [
            (Source::Stream("chat/1"), "plimsoll:{chat/1}"),
            (Source::Stream("a}:log"), "plimsoll:{a}:log}"),
            (Source::Stream("{"), "plimsoll:{{}"),
            (Source::Stream("control"), "plimsoll:{control}"),
            (Source::Stream("untagged"), "plimsoll:{untagged}"),
            (Source::Stream(""), "plimsoll:untagged:{untagged}:"),
            (Source::Stream("}a{b}"), "plimsoll:untagged:{untagged}:}a{b}"),
            (Source::Control, "plimsoll:control:{control}"),
        ] {
            let base = keys.base(source);
            assert_eq!(base, expected);
            assert_eq!(keys.source(&base), Some(source));
            let names = [
                log(&base),
                head(&base),
                channel(&base),
                members(&base),
                member_counts(&base),
                keys.record(source, "a{b}c"),
            ];
            let slots = names.map(|name| slot(&name));
            assert!(slots.iter().all(|slot| *slot == slots[0]), "{base}: {slots:?}");
        }
        assert_eq!(keys.source("plimsoll:control"), None);
    }

    #[test]
    fn no_two_idempotency_keys_have_one_name() {
        let keys = Keys::new("p".to_owned(), false);
        let name = |stream, key| {
            String::from_utf8(keys.record(Source::Stream(stream), key)).expect("the parts are text")
        };
        assert_eq!(name("a", "1700000000000-0"), "p:key:1700000000000-0:{a}");
        assert_eq!(name("b}", "a:{c}"), "p:key:a%3A%7Bc%7D:{b}}");
        assert_ne!(name("c}:{b", "a"), name("b", "a:{c}"));
    }
}
