//! The timeline of a run while it grows.

use std::collections::BTreeMap;

use plimsoll_load::{
    metrics::Value,
    run::{Progress, Stretch},
};

use super::{
    Axis, HEAT_BINS_PER_OCTAVE, MAX_INTERVALS, Timeline,
    axis::halve,
    sampled::{Fold, Sampled},
    track::Track,
};
use crate::{
    legs::{Legs, Offered},
    summary::GeneratorSeries,
};

/// The most numbers of all series together. Beyond it, intervals are merged early. Reason: a number takes about six
/// bytes of JSON, so a timeline takes at most some 1.5 MB, however many metrics there are.
pub const MAX_NUMBERS: usize = 250_000;

/// Takes stretches of a run as they come. Its memory is bounded by [`MAX_NUMBERS`]: each stands for up to 16 bytes, so
/// it is at most some 4 MB; samples by load take as much again.
#[derive(Clone, Debug)]
pub struct Recorder {
    axis: Axis,
    vus: Vec<u32>,
    iterations: Vec<u64>,
    failed: Vec<u64>,
    tracks: BTreeMap<Box<str>, Track>,
    generator: Generator,
    legs: Legs,
}

#[derive(Clone, Debug)]
struct Generator {
    cores: Sampled,
    rss_bytes: Sampled,
    lateness_us: Sampled,
}

/// What a recorder has at the end.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What happened in the run.
    pub timeline: Timeline,
    /// The generator at the same time.
    pub generator: GeneratorSeries,
    /// The samples by load.
    pub legs: Legs,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorder {
    /// The recorder of a run that has not started, and whose load are its users.
    pub fn new() -> Self {
        Self::of(None)
    }

    /// The recorder of a run that has not started. `offered` is its load, if its iterations start on schedule.
    pub fn of(offered: Option<Offered>) -> Self {
        Self {
            axis: Axis::EMPTY,
            vus: Vec::new(),
            iterations: Vec::new(),
            failed: Vec::new(),
            tracks: BTreeMap::new(),
            generator: Generator {
                cores: Sampled::new(Fold::Mean),
                rss_bytes: Sampled::new(Fold::Max),
                lateness_us: Sampled::new(Fold::Max),
            },
            legs: Legs::new(offered),
        }
    }

    /// Takes the stretch since the last call. Must be called at each observation of the run; a skipped stretch is lost.
    pub fn observe(&mut self, progress: &Progress<'_>) {
        self.add(progress.recent);
    }

    /// The timeline, with the samples after the last observation.
    pub fn finish(mut self, rest: &Stretch) -> Recorded {
        self.add(rest);
        let axis = self.axis;
        let tracks = self.tracks.into_iter();
        Recorded {
            timeline: Timeline {
                interval_seconds: axis.interval_seconds,
                n_intervals: axis.n_intervals,
                vus: self.vus,
                iterations: self.iterations,
                failed: self.failed,
                metrics: tracks
                    .map(|(name, track)| (name.into(), track.series(axis)))
                    .collect(),
                heat_bins_per_octave: HEAT_BINS_PER_OCTAVE,
            },
            generator: GeneratorSeries {
                cpu_cores: self.generator.cores.on(axis),
                rss_bytes: self.generator.rss_bytes.on(axis),
                lateness_max_us: self.generator.lateness_us.on(axis),
            },
            legs: self.legs,
        }
    }

    /// Takes a stretch of a run without an observer. It may be earlier than others: a caller that counts separately may
    /// report a second late.
    pub fn add(&mut self, stretch: &Stretch) {
        let first = stretch.start.as_secs();
        // Samples at the end of a run belong to the second before.
        let last = stretch.end.as_secs().saturating_sub(1).max(first);
        self.reach(last);
        for interval in self.axis.interval_of(first)..=self.axis.interval_of(last) {
            self.vus[interval] = self.vus[interval].max(stretch.users.peak);
        }
        let interval = self.axis.interval_of(first);
        self.iterations[interval] += stretch.iterations.n_complete;
        self.failed[interval] += stretch.n_failed;
        self.add_metrics(interval, stretch);
        self.generator.add(stretch);
        self.legs.add(stretch);
        while self.axis.n_intervals > 1 && self.n_numbers() > MAX_NUMBERS {
            self.halve();
        }
    }

    fn add_metrics(&mut self, interval: usize, stretch: &Stretch) {
        let set = &stretch.metrics;
        let registered = set
            .iter()
            .map(|(definition, value)| (definition.name.as_str(), value));
        let counted = set.tallies().chain(set.events());
        let counted = counted.map(|(name, n)| (name, Value::Counter(n as f64)));
        let distributions = set.distributions();
        let distributions = distributions.map(|(name, histogram)| (name, Value::Trend(histogram)));
        for (name, value) in registered.chain(counted).chain(distributions) {
            match self.tracks.get_mut(name) {
                Some(track) => track.add(interval, value),
                None => {
                    let mut track = Track::of(value);
                    track.add(interval, value);
                    self.tracks.insert(name.into(), track);
                }
            }
        }
    }

    /// Makes intervals up to that of `second`.
    fn reach(&mut self, second: u64) {
        while self.axis.interval_of(second) >= MAX_INTERVALS {
            self.halve();
        }
        let n = (self.axis.interval_of(second) + 1).max(self.axis.n_intervals);
        self.axis.n_intervals = n;
        self.vus.resize(n, 0);
        self.iterations.resize(n, 0);
        self.failed.resize(n, 0);
    }

    fn halve(&mut self) {
        self.axis = self.axis.doubled();
        halve(&mut self.vus, |one, other| *one.max(other));
        halve(&mut self.iterations, |one, other| one + other);
        halve(&mut self.failed, |one, other| one + other);
        self.tracks.values_mut().for_each(Track::halve);
    }

    /// Numbers that its series have in JSON, and pairs of heatmaps.
    pub(crate) fn n_numbers(&self) -> usize {
        let tracks = self.tracks.values();
        tracks
            .map(|track| track.n_numbers(self.axis) + track.n_heat())
            .sum()
    }
}

impl Generator {
    pub(super) fn add(&mut self, stretch: &Stretch) {
        let (at, glance) = (stretch.end, &stretch.generator);
        let lateness = glance.lateness_max.map(|late| late.as_micros() as f64);
        let samples = [
            (&mut self.cores, glance.cores()),
            (&mut self.rss_bytes, glance.rss_bytes.map(|bytes| bytes as f64)),
            (&mut self.lateness_us, lateness),
        ];
        for (series, value) in samples {
            if let Some(value) = value {
                series.record(at, value);
            }
        }
    }
}
