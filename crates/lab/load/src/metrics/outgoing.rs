//! One worker's samples since it last offered them to the queues.

use std::{
    cell::RefCell,
    mem,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::{
    CounterId, GaugeId, Kind, MetricId, MetricSet, RateId, Registry, Sample, SampleSender, Tags, TrendId,
    sample::{BATCH_SIZE, Batch},
};

/// One worker's samples on their way to the queues, beside sums that are recorded elsewhere: a [`Recorder`](super::Recorder)
/// does both.
#[derive(Debug)]
pub struct Outgoing {
    queues: Vec<SampleSender>,
    registry: Arc<Registry>,
    /// Metrics by kind and position.
    metrics: [Vec<MetricId>; 4],
    clock: Clock,
    samples: RefCell<Vec<Sample>>,
}

impl Outgoing {
    /// For samples of the metrics that `set` has; `None` when no output takes samples.
    pub fn of(set: &MetricSet, queues: Vec<SampleSender>) -> Option<Self> {
        Self::new(set.shared_registry(), queues)
    }

    /// `None` if there are no queues.
    pub(super) fn new(registry: &Arc<Registry>, queues: Vec<SampleSender>) -> Option<Self> {
        if queues.is_empty() {
            return None;
        }
        Some(Self {
            queues,
            metrics: [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend].map(|kind| registry.of_kind(kind)),
            registry: Arc::clone(registry),
            clock: Clock::new(),
            samples: RefCell::new(Vec::with_capacity(BATCH_SIZE)),
        })
    }

    /// Adds `n` to a counter.
    pub fn count(&self, id: CounterId, n: u64, tags: &Arc<Tags>) {
        self.push(Kind::Counter, id.0, n as f64, tags);
    }

    /// Sets a gauge.
    pub fn set(&self, id: GaugeId, value: f64, tags: &Arc<Tags>) {
        self.push(Kind::Gauge, id.0, value, tags);
    }

    /// Adds one sample to a rate.
    pub fn rate(&self, id: RateId, is_true: bool, tags: &Arc<Tags>) {
        self.push(Kind::Rate, id.0, f64::from(u8::from(is_true)), tags);
    }

    /// Adds one sample to a trend of durations.
    pub fn record(&self, id: TrendId, duration: Duration, tags: &Arc<Tags>) {
        self.push(Kind::Trend, id.0, milliseconds(duration), tags);
    }

    /// Takes in a sample of the metric of this kind and position.
    pub(super) fn push(&self, kind: Kind, position: usize, value: f64, tags: &Arc<Tags>) {
        let is_full = {
            let mut samples = self.samples.borrow_mut();
            samples.push(Sample {
                metric: self.metrics[kind as usize][position],
                time: self.clock.now(),
                value,
                tags: Arc::clone(tags),
            });
            samples.len() >= BATCH_SIZE
        };
        if is_full {
            self.flush();
        }
    }

    /// Offers what there is to all queues. To be called about once a second, and at the end.
    pub fn flush(&self) {
        if self.samples.borrow().is_empty() {
            return;
        }
        let batch = Arc::new(Batch {
            samples: mem::replace(&mut *self.samples.borrow_mut(), Vec::with_capacity(BATCH_SIZE)),
            registry: Arc::clone(&self.registry),
        });
        for queue in &self.queues {
            queue.offer(&batch);
        }
    }
}

/// The value of a sample of a duration: from whole nanoseconds, so that 9 µs is 0.009 and not a digit beside it.
pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

/// The system's time at one moment, and the monotonic clock since then.
#[derive(Clone, Copy, Debug)]
struct Clock {
    wall_clock: SystemTime,
    at: Instant,
}

impl Clock {
    fn new() -> Self {
        Self {
            wall_clock: SystemTime::now(),
            at: Instant::now(),
        }
    }

    fn now(&self) -> SystemTime {
        self.wall_clock + self.at.elapsed()
    }
}
