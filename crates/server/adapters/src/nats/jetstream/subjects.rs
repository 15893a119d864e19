//! The subjects of logs (docs/reference/nats-broker.md, Subjects).

use plimsoll_nats::{NameTooLong, token};

use crate::broker::{Source, digest};

/// The longest subject, in bytes. A server accepts lines of 4,096 bytes by default, and a line with a subject has a
/// subject for the answer, two numbers and a verb, too.
const MAX_BYTES: usize = 3900;

/// The last parts of the subjects of what has no name in base64.
const CONTROL: &str = "~control";
const EMPTY: &str = "~";

/// Makes subjects.
#[derive(Debug)]
pub(super) struct Subjects {
    prefix: String,
}

impl Subjects {
    pub(super) fn new(prefix: String) -> Self {
        Self { prefix }
    }

    /// Where the messages of a log are stored.
    pub(super) fn stored(&self, source: Source<'_>) -> Result<String, NameTooLong> {
        self.subject("h", source)
    }

    /// Where the messages of a log are announced, and messages that are not kept.
    pub(super) fn announced(&self, source: Source<'_>) -> Result<String, NameTooLong> {
        self.subject("r", source)
    }

    /// Where all messages are stored, with a wildcard.
    pub(super) fn all_stored(&self) -> String {
        format!("{}.h.*", self.prefix)
    }

    /// Where JetStream announces what it has stored.
    pub(super) fn all_announced(&self) -> String {
        format!("{}.r.{{{{wildcard(1)}}}}", self.prefix)
    }

    /// A subject that only the process with this name hears.
    pub(super) fn probe(&self, name: &str) -> String {
        format!("{}.p.{name}", self.prefix)
    }

    /// Where a record is stored. `key` has no characters with a meaning in subjects.
    pub(super) fn record(&self, key: &str) -> String {
        format!("{}.s.{key}", self.prefix)
    }

    /// Where it is stored that the records with a guard were revoked. A guard may be long, so its name is a digest.
    pub(super) fn revoked(&self, guard: &str) -> String {
        format!("{}.v.{}", self.prefix, digest(guard))
    }

    /// Where all records and revocations are stored, with wildcards.
    pub(super) fn all_records(&self) -> Vec<String> {
        ["s", "v"].map(|part| format!("{}.{part}.*", self.prefix)).into()
    }

    /// Where a member is stored. Ids and the names of streams may be long, so they are digests.
    pub(super) fn member(&self, base: &str, id: &str) -> String {
        format!("{}.m.{}.{}", self.prefix, digest(base), digest(id))
    }

    /// Where the members of a stream are stored, with a wildcard.
    pub(super) fn members(&self, base: &str) -> String {
        format!("{}.m.{}.*", self.prefix, digest(base))
    }

    /// Where JetStream announces the members of a stream, with a wildcard.
    pub(super) fn announced_members(&self, base: &str) -> String {
        format!("{}.q.{}.*", self.prefix, digest(base))
    }

    /// Where all members are stored, with wildcards, and where JetStream announces them.
    pub(super) fn all_members(&self) -> (String, String) {
        let announced = "{{wildcard(1)}}.{{wildcard(2)}}";
        (
            format!("{}.m.*.*", self.prefix),
            format!("{}.q.{announced}", self.prefix),
        )
    }

    /// Where servers say that they are there.
    pub(super) fn beats(&self) -> String {
        format!("{}.b", self.prefix)
    }

    fn subject(&self, part: &str, source: Source<'_>) -> Result<String, NameTooLong> {
        let (name, token) = match source {
            Source::Control => ("", CONTROL.to_owned()),
            Source::Stream("") => ("", EMPTY.to_owned()),
            Source::Stream(name) => (name, token(name)),
        };
        let subject = format!("{}.{part}.{token}", self.prefix);
        if subject.len() <= MAX_BYTES {
            Ok(subject)
        } else {
            Err(NameTooLong { n_bytes: name.len() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_subject_of_its_own() {
        let subjects = Subjects::new("plimsoll".to_owned());
        for (source, expected) in [
            (Source::Stream("chat"), "plimsoll.h.Y2hhdA"),
            (Source::Stream("a.*.> b\r\n"), "plimsoll.h.YS4qLj4gYg0K"),
            (Source::Stream("räume/1"), "plimsoll.h.csOkdW1lLzE"),
            (Source::Stream(""), "plimsoll.h.~"),
            (Source::Stream("~control"), "plimsoll.h.fmNvbnRyb2w"),
            (Source::Control, "plimsoll.h.~control"),
        ] {
            assert_eq!(subjects.stored(source).as_deref(), Ok(expected));
            let announced = expected.replace(".h.", ".r.");
            assert_eq!(subjects.announced(source), Ok(announced));
        }
        assert_eq!(subjects.all_stored(), "plimsoll.h.*");
        assert_eq!(subjects.all_announced(), "plimsoll.r.{{wildcard(1)}}");
        assert_eq!(subjects.record("a_b-C"), "plimsoll.s.a_b-C");
        let of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(subjects.revoked(""), format!("plimsoll.v.{of_nothing}"));
        assert_eq!(subjects.all_records(), ["plimsoll.s.*", "plimsoll.v.*"]);
    }

    #[test]
    fn names_that_are_too_long_have_none() {
        let subjects = Subjects::new("p".to_owned());
        assert!(subjects.stored(Source::Stream(&"a".repeat(2900))).is_ok());
        let long = "a".repeat(3000);
        let expected = Err(NameTooLong { n_bytes: 3000 });
        assert_eq!(subjects.stored(Source::Stream(&long)), expected);
    }
}
