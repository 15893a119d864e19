//! Counts that leave no room for chance: a message that did not arrive, or arrived twice.

use super::{
    figure::{Better, Figure, Nature, Unit},
    judgement::{Difference, Verdict},
};

/// A number of faults, and the number of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) n: u64,
    pub(super) of: u64,
}

impl Faults {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            n: self.n + other.n,
            of: self.of + other.of,
        }
    }

    fn share(self) -> f64 {
        self.n as f64 / self.of.max(1) as f64
    }
}

/// Judges exact counts. One fault is a regression if the baseline has none. Otherwise more than twice the baseline's
/// share is a regression, and less than half an improvement: losses under overload vary, and how much cannot be known
/// from two counts.
pub(super) fn judge(metric: &str, name: &str, baseline: Faults, candidate: Faults) -> Difference {
    let (before, after) = (baseline.share(), candidate.share());
    let (verdict, reason) = match (baseline.n, candidate.n) {
        (0, 0) => (Verdict::NoSignificantDifference, None),
        (0, _) => (Verdict::Regressed, Some("one is too many")),
        (_, 0) => (Verdict::Improved, None),
        _ if after > 2.0 * before => (Verdict::Regressed, Some("more than twice the share")),
        _ if after < before / 2.0 => (Verdict::Improved, Some("less than half the share")),
        _ => (Verdict::NoSignificantDifference, Some("both sides have some")),
    };
    Difference {
        figure: Figure {
            metric: metric.to_owned(),
            figure: name.to_owned(),
            unit: Unit::Number,
            better: Better::Lower,
            nature: Nature::Share,
        },
        baseline: baseline.n as f64,
        candidate: candidate.n as f64,
        change: Some(candidate.n as f64 - baseline.n as f64),
        interval: None,
        verdict,
        reason: reason.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lost_message_is_a_regression() {
        use Verdict::{Improved, NoSignificantDifference, Regressed};
        for (baseline, candidate, expected) in [
            (0, 0, NoSignificantDifference),
            (0, 1, Regressed),
            (1, 0, Improved),
            (100, 120, NoSignificantDifference),
            (100, 80, NoSignificantDifference),
            (100, 201, Regressed),
            (100, 49, Improved),
        ] {
            let faults = |n| Faults { n, of: 1_000_000 };
            let found = judge("messages", "lost", faults(baseline), faults(candidate));
            assert_eq!(found.verdict, expected, "{baseline} {candidate}");
        }
    }

    #[test]
    fn shares_count_not_numbers() {
        // Twice as many of twice as many.
        let (baseline, candidate) = (Faults { n: 10, of: 1000 }, Faults { n: 20, of: 2000 });
        let found = judge("messages", "lost", baseline, candidate);
        assert_eq!(found.verdict, Verdict::NoSignificantDifference);
    }
}
