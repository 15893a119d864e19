//! One column of times: a histogram, and the sum of squares for ab's standard deviation.

use std::time::Duration;

use plimsoll_load::histogram::{Histogram, durations};
use serde::{Deserialize, Serialize};

/// Times of one phase of many requests.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Phase {
    #[serde(deserialize_with = "durations")]
    pub(crate) histogram: Histogram,
    /// The sum of the squared times in square microseconds.
    sum_of_squares: u128,
}

impl Phase {
    pub(crate) fn record(&mut self, time: Duration) {
        self.histogram.record(time);
        let us = time.as_micros();
        self.sum_of_squares = self.sum_of_squares.saturating_add(us.saturating_mul(us));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
    }

    /// The sample standard deviation in microseconds, as ab has it; zero for fewer than two times.
    pub(crate) fn deviation_us(&self) -> f64 {
        let n = self.histogram.count() as f64;
        if n < 2.0 {
            return 0.0;
        }
        let sum_us = self.histogram.sum().as_micros() as f64;
        let squares = self.sum_of_squares as f64 - sum_us * sum_us / n;
        (squares.max(0.0) / (n - 1.0)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_those_of_a_sample() {
        let check = |ms: &[u64], expected_us: f64| {
            let (mut whole, mut parts) = (Phase::default(), [Phase::default(), Phase::default()]);
            for (idx, ms) in ms.iter().enumerate() {
                whole.record(Duration::from_millis(*ms));
                parts[idx % 2].record(Duration::from_millis(*ms));
            }
            let [mut merged, other] = parts;
            merged.merge(&other);
            for phase in [whole, merged] {
                assert!((phase.deviation_us() - expected_us).abs() < 0.01, "{ms:?}");
            }
        };
        check(&[], 0.0);
        check(&[7], 0.0);
        check(&[2, 2, 2], 0.0);
        check(&[2, 4, 4, 4, 5, 5, 7, 9], 2138.09);
    }
}
