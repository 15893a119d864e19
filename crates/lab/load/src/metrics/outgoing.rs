//! What one worker has measured since it last offered its samples to the queues.

use std::{cell::RefCell, mem, sync::Arc, time::SystemTime};

use tokio::time::Instant;

use super::{
    Kind, MetricId, Registry, Sample, SampleSender, Tags,
    sample::{BATCH_SIZE, Batch},
};

/// One worker's samples on their way to the queues.
#[derive(Debug)]
pub(super) struct Outgoing {
    queues: Vec<SampleSender>,
    registry: Arc<Registry>,
    /// Metrics by kind and position.
    metrics: [Vec<MetricId>; 4],
    clock: Clock,
    samples: RefCell<Vec<Sample>>,
}

impl Outgoing {
    /// `None` when nobody wants samples.
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

    /// Offers what there is to all queues.
    pub(super) fn flush(&self) {
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
