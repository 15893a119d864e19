//! The times in which a run held a load.

use super::{level::Level, portion::Portion};
use crate::legs::{Leg, Legs, STEADY};

/// The shortest plateau, in seconds. Reason: one second may be the second of a turn from a rise to a fall.
const LEAST_SECONDS: f64 = 2.0;

/// The shortest plateau as a share of its run. Reason: a slow ramp spends a hundredth of its time within a hundredth of
/// its end.
const LEAST_SHARE: f64 = 0.02;

/// A plateau of this many seconds may be a smaller share of its run.
const LONG_SECONDS: f64 = 60.0;

/// The greatest difference between the first and the last second of a plateau, as a share of its load: half of what is the
/// same load.
const MOST_DRIFT: f64 = (1.0 - STEADY) / 2.0;

/// Half of a run is most of it: so long a plateau may be shorter than two seconds, and so long plateaus stand for the run
/// if there are only two loads.
const MOST_OF_IT: f64 = 0.5;

/// The plateaus of a run, in the order of time.
pub(super) fn find(legs: &Legs, seconds: f64) -> Vec<Portion<'_>> {
    let least = (LEAST_SHARE * seconds).clamp(LEAST_SECONDS, LONG_SECONDS);
    let least = least.min(MOST_OF_IT * seconds);
    let held = legs
        .iter()
        .filter(|leg| leg.range.1 > 0.0 && leg.is_steady && !drifts(leg) && leg.seconds() >= least);
    held.map(|leg| Portion(vec![leg])).collect()
}

/// Whether the load moved through the tolerance, as a slow ramp does. One user more or less is no drift.
fn drifts(leg: &Leg) -> bool {
    let (first, last) = leg.ends;
    (last - first).abs() > f64::max(1.0, MOST_DRIFT * leg.range.1)
}

/// Whether these plateaus show a run at rising loads better than bands do: they have three loads, or two loads and are
/// most of the run.
pub(super) fn are_a_curve(plateaus: &[Level], seconds: f64) -> bool {
    let mut loads: Vec<f64> = plateaus.iter().map(|level| level.mean).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup_by(|higher, lower| *lower >= STEADY * *higher);
    let held: f64 = plateaus.iter().map(|level| level.seconds).sum();
    loads.len() >= 3 || (loads.len() == 2 && held >= MOST_OF_IT * seconds)
}
