//! Requests that failed, counted by ab's kinds and by cause.

use std::{borrow::Cow, collections::BTreeMap};

use plimsoll_clients::http::HttpError;
use serde::{Deserialize, Serialize};

/// ab's kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The connection could not be opened: refused, timed out, or TLS failed.
    Connect,
    /// The connection broke, ended or stayed silent before the response was whole.
    Receive,
    /// The body is not as long as that of the first response. The request is complete all the same.
    Length,
    /// The response was not HTTP.
    Exceptions,
}

/// Causes are words of ours and of the system, so there are few; further ones are counted together.
const MAX_CAUSES: usize = 50;

/// How often each cause struck.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Kind, String, u64)>", into = "Vec<(Kind, String, u64)>")]
pub struct Failures {
    causes: BTreeMap<(Kind, Cow<'static, str>), u64>,
}

impl Kind {
    /// All kinds, in ab's order.
    pub(crate) const ALL: [Self; 4] = [Self::Connect, Self::Receive, Self::Length, Self::Exceptions];

    /// ab's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Connect => "Connect",
            Self::Receive => "Receive",
            Self::Length => "Length",
            Self::Exceptions => "Exceptions",
        }
    }

    /// The kind of a failed request.
    pub(crate) fn of(error: &HttpError, is_connected: bool) -> Self {
        match error {
            HttpError::Malformed(_)
            | HttpError::TooLarge { .. }
            | HttpError::SwitchingProtocols
            | HttpError::Field(_) => Self::Exceptions,
            HttpError::Http2(error) if !error.is_io() => Self::Exceptions,
            _ if !is_connected => Self::Connect,
            _ => Self::Receive,
        }
    }
}

impl Failures {
    pub(crate) fn count(&mut self, kind: Kind, cause: Cow<'static, str>) {
        self.add(kind, cause, 1);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for ((kind, cause), n) in &other.causes {
            self.add(*kind, cause.clone(), *n);
        }
    }

    /// The number of failures of one kind.
    pub fn of(&self, kind: Kind) -> u64 {
        let causes = self.causes.iter().filter(|((other, _), _)| *other == kind);
        causes.fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// The number of all failures.
    pub fn total(&self) -> u64 {
        self.causes.values().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Kind, words and count of each cause, by kind.
    pub fn causes(&self) -> impl Iterator<Item = (Kind, &str, u64)> {
        self.causes
            .iter()
            .map(|((kind, cause), n)| (*kind, cause.as_ref(), *n))
    }

    /// `n` more failures of this kind and cause.
    pub(crate) fn add(&mut self, kind: Kind, cause: Cow<'static, str>, n: u64) {
        if n == 0 {
            return;
        }
        let is_full = self.causes.len() >= MAX_CAUSES;
        let key = (kind, cause);
        let key = if is_full && !self.causes.contains_key(&key) {
            (kind, "other causes".into())
        } else {
            key
        };
        let sum = self.causes.entry(key).or_default();
        *sum = sum.saturating_add(n);
    }
}

impl From<Vec<(Kind, String, u64)>> for Failures {
    fn from(causes: Vec<(Kind, String, u64)>) -> Self {
        let mut failures = Self::default();
        for (kind, cause, n) in causes {
            failures.add(kind, cause.into(), n);
        }
        failures
    }
}

impl From<Failures> for Vec<(Kind, String, u64)> {
    fn from(failures: Failures) -> Self {
        let causes = failures.causes.into_iter();
        causes
            .map(|((kind, cause), n)| (kind, cause.into_owned(), n))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{io, time::Duration};

    use super::*;

    #[test]
    fn errors_are_of_abs_kinds() {
        let check = |error: HttpError, is_connected: bool, expected: Kind| {
            assert_eq!(Kind::of(&error, is_connected), expected, "{error}");
        };
        let timeout = || HttpError::Timeout {
            after: Duration::ZERO,
        };
        check(timeout(), false, Kind::Connect);
        check(timeout(), true, Kind::Receive);
        check(HttpError::Ended, true, Kind::Receive);
        let lost = HttpError::Lost {
            doing: "read",
            source: io::ErrorKind::ConnectionReset.into(),
        };
        check(lost, true, Kind::Receive);
        check(HttpError::Malformed("x"), true, Kind::Exceptions);
        check(HttpError::NoHttp2, false, Kind::Connect);
    }

    #[test]
    fn causes_are_bounded_and_none_is_lost() {
        let mut failures = Failures::default();
        (0..100).for_each(|n| failures.count(Kind::Receive, format!("cause {n}").into()));
        failures.count(Kind::Length, "x".into());
        let mut twice = failures.clone();
        twice.merge(&failures);
        assert_eq!((failures.total(), twice.total()), (101, 202));
        assert_eq!((twice.of(Kind::Receive), twice.of(Kind::Length)), (200, 2));
        assert!(twice.causes().count() <= MAX_CAUSES + Kind::ALL.len());
    }
}
