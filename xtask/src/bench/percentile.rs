//! Percentiles of times that a benchmark has measured one by one.

use std::time::Duration;

/// The time below which `percent` of all lie; 0 without any.
pub(super) fn percentile_ms(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles() {
        let mut times: Vec<_> = (0..100).rev().map(Duration::from_millis).collect();
        for (percent, expected) in [(50, 50.0), (99, 99.0), (100, 99.0)] {
            let measured = percentile_ms(&mut times, percent);
            assert!((measured - expected).abs() < 1e-9, "{percent}: {measured}");
        }
        assert!(percentile_ms(&mut [], 99).abs() < 1e-9);
    }
}
