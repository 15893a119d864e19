//! The memory that one more user takes, from plateaus: loads that were held, so that the target had the time to take what
//! they need.
//!
//! A straight line is fitted through the mean memory of each plateau against its users. Its slope is given only with an
//! interval, and only if the interval says something: it must be above zero, and no wider than the slope itself. Memory
//! during a ramp is not used. It lags behind the users by an amount that differs from run to run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::Level;
use crate::{comparison::student, fit::least_squares};

/// The memory that one more user takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerUser {
    /// The estimate.
    pub bytes: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
    /// The plateaus that it comes from.
    pub plateaus: usize,
}

/// The fewest different loads. Reason: two points are always on a line, and leave nothing for an interval.
const LEAST_LOADS: usize = 3;

/// The probability on either side of the interval.
const TAIL: f64 = 0.025;

/// The widest interval, as a ratio to the estimate.
const WIDEST: f64 = 1.0;

/// The memory per user of the target of this name.
///
/// # Errors
/// Why there is no such figure, as the rest of a sentence.
pub(crate) fn per_user(plateaus: &[Level], target: &str) -> Result<PerUser, String> {
    let points: Vec<(f64, f64)> = plateaus
        .iter()
        .filter_map(|level| {
            let usage = level.targets.iter().find(|usage| usage.name == target)?;
            Some((level.mean, usage.rss_bytes?))
        })
        .collect();
    let mut loads: Vec<f64> = points.iter().map(|point| point.0.round()).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    if loads.len() < LEAST_LOADS {
        return Err(format!(
            "it needs {LEAST_LOADS} rising numbers of users that are held for some seconds, and this run has {}",
            loads.len()
        ));
    }
    let line = least_squares("rss_bytes", "vus", &points);
    let margin = student::quantile(TAIL, points.len() as f64 - 2.0) * line.slope_error;
    let (low, high) = (line.slope - margin, line.slope + margin);
    // A bound that is not a number says nothing, either.
    if !(low > 0.0 && high - low <= WIDEST * line.slope) {
        return Err("the memory at the loads that were held is too far from a straight line".to_owned());
    }
    Ok(PerUser {
        bytes: line.slope,
        low,
        high,
        plateaus: points.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_load::Usage;

    fn plateaus(points: &[(f64, f64)]) -> Vec<Level> {
        let level = |&(users, rss_bytes): &(f64, f64)| Level {
            mean: users,
            targets: vec![Usage {
                name: "server".to_owned(),
                cores: None,
                rss_bytes: Some(rss_bytes),
            }],
            ..Level::default()
        };
        points.iter().map(level).collect()
    }

    #[test]
    fn plateaus_on_a_line_have_its_slope_with_an_interval() {
        let points = [(100.0, 12e6), (200.0, 13.1e6), (400.0, 15e6), (800.0, 19e6)];
        let found = per_user(&plateaus(&points), "server").unwrap();
        assert!(found.low < 1e4 && 1e4 < found.high, "{found:?}");
        assert!(
            (found.bytes - 1e4).abs() < 200.0 && found.plateaus == 4,
            "{found:?}"
        );
        assert!(found.high - found.low < 1_000.0, "{found:?}");
    }

    #[test]
    fn noise_and_too_few_loads_have_no_figure_and_say_why() {
        let too_far = "the memory at the loads that were held is too far from a straight line";
        for (points, expected) in [
            (
                &[][..],
                "it needs 3 rising numbers of users that are held for some seconds, and this run has 0",
            ),
            (&[(100.0, 12e6)], "it needs 3"),
            (&[(100.0, 12e6), (100.0, 13e6), (200.0, 14e6)], "it needs 3"),
            (
                &[(100.0, 12e6), (200.0, 15e6), (300.0, 12.5e6), (400.0, 15.5e6)],
                too_far,
            ),
            (&[(100.0, 15e6), (200.0, 14e6), (300.0, 13e6)], too_far),
            (&[(100.0, 15e6), (200.0, 15e6), (300.0, 15e6)], too_far),
        ] {
            let found = per_user(&plateaus(points), "server").unwrap_err();
            assert!(found.starts_with(expected), "{points:?}: {found}");
        }
        let other = per_user(&plateaus(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), "database");
        assert!(other.is_err());
    }
}
