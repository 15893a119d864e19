//! Bands of loads: a run without plateaus, cut by load.

use super::portion::Portion;
use crate::legs::{Leg, Legs};

/// The number of bands. Reason: enough to see a bend, and each band of a ramp of half a minute still has seconds.
const BANDS: usize = 8;

/// The fewest bands that are worth a curve.
const LEAST_BANDS: usize = 3;

/// The least share of the highest load by which the loads must differ. Reason: a load that hardly changes has no curve.
const LEAST_SPREAD: f64 = 0.1;

/// The legs of a run in bands of equal width, by rising load. Empty if the load hardly changed.
pub(super) fn cut(legs: &Legs) -> Vec<Portion<'_>> {
    let loaded: Vec<&Leg> = legs
        .iter()
        .filter(|leg| leg.range.1 > 0.0 && leg.mean > 0.0)
        .collect();
    let lowest = loaded.iter().map(|leg| leg.mean).fold(f64::INFINITY, f64::min);
    let highest = loaded.iter().map(|leg| leg.mean).fold(0.0, f64::max);
    if loaded.is_empty() || highest - lowest < LEAST_SPREAD * highest {
        return Vec::new();
    }
    let mut bands: Vec<Vec<&Leg>> = vec![Vec::new(); BANDS];
    for leg in loaded {
        let share = (leg.mean - lowest) / (highest - lowest);
        let at = (share * BANDS as f64) as usize;
        bands[at.min(BANDS - 1)].push(leg);
    }
    bands.retain(|band| !band.is_empty());
    if bands.len() < LEAST_BANDS {
        return Vec::new();
    }
    bands.into_iter().map(Portion).collect()
}
