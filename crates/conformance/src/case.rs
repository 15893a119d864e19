//! A case: one thing that a specification demands, and that a target does or does not.

use std::{borrow::Cow, cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

use crate::Clause;

/// One thing to find out of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its name, the same in all versions.
    pub id: CaseId,
    /// What is done and what has to come of it, in a few words.
    pub title: Cow<'static, str>,
    /// Where that is demanded, and how binding it is.
    #[serde(flatten)]
    pub clause: Clause,
}

/// The name of a case: numbers of a family of cases with dots (`1.1.1`), or words with slashes
/// (`cable/streams/single/receives`).
///
/// Ids are ordered as people count: `1.2` comes before `1.10`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CaseId(Cow<'static, str>);

impl CaseId {
    /// The id that `text` is.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(text.into())
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Cases that are shown together: `1` of `1.2.3`, and `cable/streams` of `cable/streams/single/receives`.
    pub fn family(&self) -> &str {
        let id = self.as_str();
        match id.match_indices('/').nth(1) {
            Some((at, _)) => &id[..at],
            None => id.split(['.', '/']).next().unwrap_or(id),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.as_str().split(['.', '/'])
    }
}

impl Ord for CaseId {
    fn cmp(&self, other: &Self) -> Ordering {
        let parts = self.parts().map(Part::of);
        // Ids that count alike (`1.1` and `1.01`) are still different.
        parts
            .cmp(other.parts().map(Part::of))
            .then_with(|| self.as_str().cmp(other.as_str()))
    }
}

impl PartialOrd for CaseId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A part of an id. Numbers come before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(u64),
    Word(&'a str),
}

impl<'a> Part<'a> {
    fn of(text: &'a str) -> Self {
        text.parse().map_or(Self::Word(text), Self::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_as_people_count() {
        let mut ids = ["10.1.1", "1.10", "cable/b/1", "1.2", "1.2.1", "cable/a/1", "1.02"].map(CaseId::new);
        ids.sort();
        assert_eq!(
            ids.each_ref().map(CaseId::as_str),
            ["1.02", "1.2", "1.2.1", "1.10", "10.1.1", "cable/a/1", "cable/b/1"]
        );
    }

    #[test]
    fn families_are_what_is_shown_together() {
        for (id, expected) in [
            ("1.2.3", "1"),
            ("13", "13"),
            ("handshake.4", "handshake"),
            ("cable/streams/single/receives", "cable/streams"),
            ("cable/request/url-5.2", "cable/request"),
            ("cable/ping", "cable"),
            ("", ""),
        ] {
            assert_eq!(CaseId::new(id).family(), expected, "{id}");
        }
    }
}
