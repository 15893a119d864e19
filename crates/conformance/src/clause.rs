//! A clause: the place of a requirement in its specification, and how binding the requirement is for the target.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use crate::Verdict;

/// The place of a requirement, and its level for the side that is judged. A sentence that binds only the sender is a
/// [`Level::Should`] for a target that receives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// The place: `RFC 6455 §5.5.1`, `AnyT streams/single`, `rails/rails#44652`.
    #[serde(rename = "clause")]
    pub place: Cow<'static, str>,
    /// How binding it is. Files of older versions name no level; all their cases could fail.
    #[serde(default)]
    pub level: Level,
}

/// How binding a requirement is (RFC 2119). Only a case of level [`Must`](Self::Must) can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// MUST, MUST NOT: a target that does otherwise fails.
    #[default]
    Must,
    /// SHOULD, or a MUST that binds only the other side: a target that does otherwise is non-strict.
    Should,
    /// MAY: the target is free; the result says what it does.
    May,
    /// The specification says nothing; the result is worth knowing.
    Informational,
}

impl Clause {
    const fn new(place: &'static str, level: Level) -> Self {
        Self {
            place: Cow::Borrowed(place),
            level,
        }
    }

    /// A place that says MUST or MUST NOT to the target.
    pub const fn must(place: &'static str) -> Self {
        Self::new(place, Level::Must)
    }

    /// A place that says SHOULD to the target, or MUST to the other side only.
    pub const fn should(place: &'static str) -> Self {
        Self::new(place, Level::Should)
    }

    /// A place that says MAY to the target.
    pub const fn may(place: &'static str) -> Self {
        Self::new(place, Level::May)
    }

    /// A place that is about the subject and demands nothing of the target.
    pub const fn informational(place: &'static str) -> Self {
        Self::new(place, Level::Informational)
    }
}

impl Level {
    /// All levels, the most binding one first.
    pub const ALL: [Self; 4] = [Self::Must, Self::Should, Self::May, Self::Informational];

    /// The word for it in tables, for example `MUST`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
            Self::Informational => "informational",
        }
    }

    /// The worst verdict of a case of this level.
    pub const fn worst(self) -> Verdict {
        match self {
            Self::Must => Verdict::Fail,
            Self::Should => Verdict::NonStrict,
            Self::May | Self::Informational => Verdict::Informational,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.place, self.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_must_can_fail() {
        for level in Level::ALL {
            assert_eq!(level.worst() == Verdict::Fail, level == Level::Must, "{level}");
        }
    }

    #[test]
    fn clauses_of_older_files_are_read() {
        let read: Clause = serde_json::from_str(r#"{"clause":"RFC 6455 §5"}"#).unwrap();
        assert_eq!(read, Clause::must("RFC 6455 §5"));
        let should = Clause::should("RFC 6455 §7.1.7");
        assert_eq!(should.to_string(), "RFC 6455 §7.1.7 (SHOULD)");
        let text = serde_json::to_string(&should).unwrap();
        assert_eq!(text, r#"{"clause":"RFC 6455 §7.1.7","level":"should"}"#);
    }
}
