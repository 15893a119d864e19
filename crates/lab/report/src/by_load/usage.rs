//! What targets used during some legs of a run.

use plimsoll_load::watch::figure::{CPU_CORES, RSS_BYTES};

use super::{basis::Basis, level::Usage};
use crate::{legs::Leg, timeline::Timeline};

/// The use of each target, from the intervals of the timeline whose middles are in the legs.
pub(super) fn of(legs: &[&Leg], basis: &Basis<'_>) -> Vec<Usage> {
    let timeline = basis.timeline;
    let within = |at: usize| {
        let middle = (at as f64 + 0.5) * f64::from(timeline.interval_seconds);
        let mut legs = legs.iter();
        legs.any(|leg| (leg.start.as_secs_f64()..leg.end.as_secs_f64()).contains(&middle))
    };
    let intervals: Vec<_> = (0..timeline.n_intervals).filter(|&at| within(at)).collect();
    let highest: Vec<_> = {
        let is_highest = at_its_highest(timeline, basis.legs.are_of_rates());
        intervals.iter().copied().filter(|&at| is_highest[at]).collect()
    };
    let targets = basis.targets.iter().map(|target| {
        let mean = |name: &str, intervals: &[usize]| mean(target.series.get(name)?, intervals);
        Usage {
            name: target.name.clone(),
            cores: mean(CPU_CORES, &intervals),
            rss_bytes: mean(RSS_BYTES, &highest),
        }
    });
    targets.collect()
}

/// Whether no interval before had more users. Users of an open model say nothing about its load.
fn at_its_highest(timeline: &Timeline, are_rates: bool) -> Vec<bool> {
    let mut highest = 0;
    let intervals = timeline.vus.iter().map(|&vus| {
        highest = highest.max(vus);
        are_rates || vus >= highest
    });
    intervals.collect()
}

fn mean(values: &[Option<f64>], intervals: &[usize]) -> Option<f64> {
    let known: Vec<f64> = intervals
        .iter()
        .filter_map(|&at| values.get(at).copied().flatten())
        .collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}
