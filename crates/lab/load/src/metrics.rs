//! Metrics of a run: defined once, recorded per worker without locks, merged once per second.
//!
//! A [`Registry`] is filled before the run and then frozen. Each worker owns one [`MetricSet`] of it; its virtual users
//! write through [`Recorder`] handles that never leave the worker's thread. The run loop takes the deltas and merges
//! them into the total.
//!
//! Unused tags cost nothing: no time series is kept per tag set. A [`Selector`] in a threshold creates one sub-metric,
//! and a [`Recorder`] computes once which of them its tags select. Outputs that need single samples with all their tags
//! take them from a [`sample_queue`].

pub mod built_in;
mod check;
mod emerging;
mod outgoing;
mod place;
mod recorder;
mod registry;
mod sample;
mod sample_wire;
mod set;
mod tags;
pub mod wire;

pub use self::{
    check::{Check, CheckName},
    outgoing::Outgoing,
    place::{LeftOut, Place},
    recorder::Recorder,
    registry::{
        CheckId, Contains, CounterId, Definition, GaugeId, Kind, MetricId, RateId, RegisterError, Registry,
        TrendId,
    },
    sample::{BATCH_SIZE, Batch, QUEUE_CAPACITY, Sample, SampleReceiver, SampleSender, sample_queue},
    sample_wire::{MAX_PACKED, PackedSamples, PackedSamplesError, SamplePacker},
    set::{Gauge, MetricSet, Rate, Value},
    tags::{Selector, Tags},
};
