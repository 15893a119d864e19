//! Why iterations failed: each distinct reason with its number of occurrences, and the failures by cause.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::causes::Causes;

/// The most distinct reasons. Reason: a person does not read more; a reason with an id or a time in it must not make
/// memory grow with the run.
const MAX_REASONS: usize = 20;

/// Failed iterations by reason and by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Unbounded")]
pub struct Failures {
    reasons: BTreeMap<String, u64>,
    n_other: u64,
    causes: Causes,
}

/// Failures from outside, whose reasons may be more than [`MAX_REASONS`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unbounded {
    reasons: BTreeMap<String, u64>,
    n_other: u64,
    causes: Causes,
}

impl Failures {
    /// All failed iterations.
    pub fn count(&self) -> u64 {
        self.reasons
            .values()
            .fold(self.n_other, |sum, &n| sum.saturating_add(n))
    }

    /// Each of the first 20 distinct reasons and how often it occurred, in the order of the text.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, u64)> {
        self.reasons.iter().map(|(reason, &n)| (reason.as_str(), n))
    }

    /// Failures with further reasons, whose text is not kept.
    pub fn n_other(&self) -> u64 {
        self.n_other
    }

    /// All failures by cause.
    pub fn causes(&self) -> &Causes {
        &self.causes
    }

    /// Counts `n` failures with this reason, all `at` one time since the start of the run.
    pub fn add(&mut self, reason: &str, n: u64, at: Duration) {
        self.add_reason(reason, n);
        self.causes.add(reason, reason, n, at);
    }

    /// Adds all failures of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (reason, n) in other.reasons() {
            self.add_reason(reason, n);
        }
        self.n_other = self.n_other.saturating_add(other.n_other);
        self.causes.merge(&other.causes);
    }

    fn add_reason(&mut self, reason: &str, n: u64) {
        if let Some(known) = self.reasons.get_mut(reason) {
            // Numbers from other machines may be any.
            *known = known.saturating_add(n);
        } else if self.reasons.len() < MAX_REASONS {
            self.reasons.insert(reason.to_owned(), n);
        } else {
            self.n_other = self.n_other.saturating_add(n);
        }
    }
}

impl From<Unbounded> for Failures {
    fn from(
        Unbounded {
            reasons,
            n_other,
            causes,
        }: Unbounded,
    ) -> Self {
        let mut bounded = Self::default();
        bounded.merge(&Self {
            reasons,
            n_other,
            causes,
        });
        bounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn equal_reasons_are_counted_together_and_many_do_not_grow() {
        let mut failures = Failures::default();
        let mut others = Failures::default();
        for n in 0..30 {
            failures.add("connection refused", 1, AT(n));
            others.add(&format!("user {n:02} timed out"), 2, AT(n));
        }
        failures.merge(&others);
        assert_eq!((failures.count(), failures.n_other()), (90, 2 * 11));
        assert_eq!(failures.reasons().next(), Some(("connection refused", 30)));
        assert_eq!(failures.reasons().count(), MAX_REASONS);
    }

    #[test]
    fn failures_are_sent_whole_and_bounded_on_arrival() {
        let mut failures = Failures::default();
        for n in 0..30 {
            failures.add(&format!("user {n:02} timed out"), n, AT(n));
        }
        let mut json = serde_json::to_value(&failures).unwrap();
        assert_eq!(
            serde_json::from_value::<Failures>(json.clone()).unwrap(),
            failures
        );
        json["reasons"]["unheard of"] = u64::MAX.into();
        let bounded: Failures = serde_json::from_value(json).unwrap();
        assert_eq!(
            (bounded.reasons().count(), bounded.count()),
            (MAX_REASONS, u64::MAX)
        );
    }
}
