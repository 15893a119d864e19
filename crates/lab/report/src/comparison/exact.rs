//! Counts that leave no room for chance: a message that did not arrive, or arrived twice.

use super::{
    figure::{Better, Figure, Nature, Unit},
    judgement::Difference,
    verdict::Verdict,
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
/// share is a regression, and less than half an improvement. Anything in between is inconclusive: losses under overload
/// vary, and how much cannot be known from two counts.
pub(super) fn judge(metric: &str, name: &str, baseline: Faults, candidate: Faults) -> Difference {
    let (before, after) = (baseline.share(), candidate.share());
    let (verdict, reason) = match (baseline.n, candidate.n) {
        (0, 0) => (Verdict::Equal, None),
        (0, _) => (Verdict::Worse, Some("one is too many")),
        (_, 0) => (Verdict::Better, None),
        _ if after > 2.0 * before => (Verdict::Worse, Some("more than twice the share")),
        _ if after < before / 2.0 => (Verdict::Better, Some("less than half the share")),
        _ => (Verdict::Inconclusive, Some("both sides have some")),
    };
    Difference {
        figure: Figure {
            metric: metric.to_owned(),
            figure: name.to_owned(),
            unit: Unit::Number,
            better: Better::Lower,
            nature: Nature::Share,
        },
        decisive: true,
        baseline: baseline.n as f64,
        candidate: candidate.n as f64,
        change: Some(candidate.n as f64 - baseline.n as f64),
        interval: None,
        verdict,
        reason: reason.map(str::to_owned),
        suffices: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(baseline: (u64, u64), candidate: (u64, u64), verdict: Verdict, reason: &str, change: f64) {
        let [before, after] = [baseline, candidate].map(|(n, of)| Faults { n, of });
        let found = judge("messages", "lost", before, after);
        assert_eq!(
            (
                found.verdict,
                found.reason.as_deref().unwrap_or_default(),
                found.change
            ),
            (verdict, reason, Some(change)),
            "{baseline:?} {candidate:?}"
        );
    }

    #[test]
    fn one_lost_message_is_a_regression() {
        use Verdict::{Better, Equal, Inconclusive, Worse};
        for (baseline, candidate, verdict, reason, change) in [
            (0, 0, Equal, "", 0.0),
            (0, 1, Worse, "one is too many", 1.0),
            (1, 0, Better, "", -1.0),
            (100, 120, Inconclusive, "both sides have some", 20.0),
            (100, 80, Inconclusive, "both sides have some", -20.0),
            (100, 200, Inconclusive, "both sides have some", 100.0),
            (100, 201, Worse, "more than twice the share", 101.0),
            (100, 50, Inconclusive, "both sides have some", -50.0),
            (100, 49, Better, "less than half the share", -51.0),
        ] {
            let of = 1_000_000;
            check((baseline, of), (candidate, of), verdict, reason, change);
        }
    }

    #[test]
    fn shares_count_not_numbers() {
        use Verdict::{Better, Inconclusive, Worse};
        // Twice as many of twice as many, of ten times as many; as many of a tenth.
        check(
            (10, 1_000),
            (20, 2_000),
            Inconclusive,
            "both sides have some",
            10.0,
        );
        check(
            (10, 1_000),
            (20, 10_000),
            Better,
            "less than half the share",
            10.0,
        );
        check((10, 10_000), (10, 1_000), Worse, "more than twice the share", 0.0);
    }

    #[test]
    fn faults_and_messages_of_several_runs_are_added() {
        let sum = Faults { n: 1, of: 10 }.plus(Faults { n: 2, of: 30 });
        assert_eq!(sum, Faults { n: 3, of: 40 });
    }
}
