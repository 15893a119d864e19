//! Metrics of a run: defined once, recorded per worker without locks, merged once per second.
//!
//! A [`Registry`] is filled before the run and then frozen. Each worker owns one [`MetricSet`] of it; its
//! virtual users write through [`Recorder`] handles that never leave the worker's thread. The run loop takes
//! the deltas and merges them into the total.

mod check;
mod recorder;
mod registry;
mod set;

pub use self::{
    check::Check,
    recorder::Recorder,
    registry::{
        CheckId, Contains, CounterId, Definition, GaugeId, Kind, RateId, RegisterError, Registry, TrendId,
    },
    set::{Gauge, MetricSet, Rate, Value},
};
