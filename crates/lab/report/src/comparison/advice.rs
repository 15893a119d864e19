//! What would suffice: the shortest series of runs that would decide a figure, if its noise stays as it is.

use serde::Serialize;

use super::estimate::Estimate;

/// A series of runs for each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Series {
    /// The number of runs on each side.
    pub runs: usize,
    /// The length of each run in seconds.
    pub seconds: u64,
}

impl Series {
    /// The longest series that is tried.
    pub(super) const LONGEST: Self = Self {
        runs: 12,
        seconds: 300,
    };

    /// The series in words: `3 runs of 60 s on each side`.
    pub fn text(self) -> String {
        match self.runs {
            1 => format!("one run of {} s on each side", self.seconds),
            n => format!("{n} runs of {} s on each side", self.seconds),
        }
    }

    /// All seconds of one side.
    pub(super) fn total(self) -> u64 {
        (self.runs as u64).saturating_mul(self.seconds)
    }
}

/// The numbers of runs that are tried. Reason: twelve are the most that a page shows, and people do not wait for more.
const RUNS: [usize; 9] = [1, 2, 3, 4, 5, 6, 8, 10, 12];

/// The lengths of runs that are tried, in seconds, besides that of the given runs.
const SECONDS: [u64; 5] = [15, 30, 60, 120, 300];

/// The share of the distance to a verdict that the margin may take. Reason: the next runs will not show exactly the same
/// change; with the whole distance, every second series would decide nothing.
const REACH: f64 = 0.8;

/// The distance that a margin must not exceed to decide a figure, on the scale of the effect, if `effect` is the truth.
/// `threshold` is the least effect that counts, `equal` the greatest that still means equal.
pub(super) fn distance(effect: f64, threshold: f64, equal: f64) -> f64 {
    let to_equal = equal - effect.abs();
    let to_different = if effect.abs() > threshold {
        effect.abs()
    } else {
        0.0
    };
    REACH * to_equal.max(to_different)
}

/// The shortest series whose margin is at most `distance`, beyond the given series. `None` if none of those that are tried
/// suffices.
pub(super) fn sufficient(
    estimate: &Estimate,
    distance: f64,
    confidence: f64,
    given: Series,
) -> Option<Series> {
    let lengths = SECONDS.into_iter().filter(|seconds| *seconds > given.seconds);
    let lengths: Vec<_> = [given.seconds.max(1)].into_iter().chain(lengths).collect();
    let tried = RUNS.iter().flat_map(|&runs| {
        let of_length = move |&seconds: &u64| Series { runs, seconds };
        lengths.iter().map(of_length).collect::<Vec<_>>()
    });
    let is_more = |series: &Series| series.runs > given.runs || series.seconds > given.seconds;
    let times_as_long = |series: &Series| series.seconds as f64 / given.seconds.max(1) as f64;
    let margin = |series: &Series| estimate.margin_of(series.runs, times_as_long(series), confidence);
    tried
        .filter(is_more)
        .filter(|series| margin(series) <= distance)
        .min_by_key(|series| (series.total(), series.runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_must_reach_the_nearer_verdict() {
        // An effect counts from 5 on and is equal up to 10.
        for (effect, expected) in [
            (0.0, 8.0),
            (4.0, 4.8),
            // Not yet different enough to count.
            (5.0, 4.0),
            (6.0, 4.8),
            (-6.0, 4.8),
            (9.0, 7.2),
            (20.0, 16.0),
        ] {
            let found = distance(effect, 5.0, 10.0);
            assert!((found - expected).abs() < 1e-12, "{effect}: {found}");
        }
    }

    #[test]
    fn a_series_is_told_in_words() {
        for (runs, expected) in [
            (1, "one run of 60 s on each side"),
            (3, "3 runs of 60 s on each side"),
        ] {
            assert_eq!(Series { runs, seconds: 60 }.text(), expected);
        }
    }

    /// A run of 15 s, with noise of 3 % between runs and 6 % within them; a margin of 8 % would do.
    #[test]
    fn the_least_time_that_suffices_is_advised() {
        let given = Series { runs: 1, seconds: 15 };
        let estimate = |between: f64, within: f64| Estimate::made_up(between.powi(2), within.powi(2));
        for (between, within, distance, expected) in [
            // More runs where runs differ, longer ones where their seconds do.
            (0.03, 0.005, 0.08, Some((2, 15))),
            (0.005, 0.06, 0.10, Some((1, 60))),
            (0.03, 0.06, 0.08, Some((4, 30))),
            // The given runs are never advised, even if they would do.
            (0.001, 0.001, 0.5, Some((1, 30))),
            (0.2, 0.2, 0.01, None),
            (0.03, 0.06, -0.1, None),
        ] {
            let found = sufficient(&estimate(between, within), distance, 0.95, given);
            let found = found.map(|Series { runs, seconds }| (runs, seconds));
            assert_eq!(found, expected, "{between} {within} {distance}");
        }
    }
}
