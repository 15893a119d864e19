//! Legs of a run that are looked at together: a plateau or a band.

use plimsoll_load::histogram::Histogram;

use super::{basis::Basis, level::Level, usage};
use crate::{
    Distribution,
    legs::{Events, Leg},
};

/// One leg or several, in the order of time.
#[derive(Debug)]
pub(super) struct Portion<'a>(pub(super) Vec<&'a Leg>);

impl Portion<'_> {
    /// The length of all legs.
    pub(super) fn seconds(&self) -> f64 {
        self.0.iter().map(|leg| leg.seconds()).sum()
    }

    /// The figures of these legs, from their samples.
    pub(super) fn level(&self, basis: &Basis<'_>) -> Level {
        let Self(legs) = self;
        let seconds = self.seconds();
        let area: f64 = legs.iter().map(|leg| leg.mean * leg.seconds()).sum();
        let sum = legs.iter().map(|leg| leg.events);
        let events = sum.fold(Events::default(), Events::plus);
        Level {
            least: legs.iter().map(|leg| leg.range.0).fold(f64::INFINITY, f64::min),
            most: legs.iter().map(|leg| leg.range.1).fold(0.0, f64::max),
            mean: if seconds > 0.0 { area / seconds } else { 0.0 },
            start_seconds: legs.first().map_or(0.0, |leg| leg.start.as_secs_f64()),
            seconds,
            iterations: events.iterations,
            failed_iterations: events.failed_iterations,
            checks: events.checks,
            failed_checks: events.failed_checks,
            requests: events.requests,
            failed_requests: events.failed_requests,
            latency: basis.latency.and_then(|name| self.latency(name)),
            losses: None,
            targets: usage::of(legs, basis),
        }
    }

    /// The samples of a trend in all legs.
    fn latency(&self, name: &str) -> Option<Distribution> {
        let samples = self.0.iter().filter_map(|leg| leg.samples(name));
        let all = samples.reduce(|mut all: Histogram, leg| {
            all.merge(&leg);
            all
        });
        all.as_ref().map(Distribution::from)
    }
}
