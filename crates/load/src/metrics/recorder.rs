//! The handle through which virtual users and their tasks write metrics.

use std::{cell::RefCell, rc::Rc, time::Duration};

use super::{CheckId, CounterId, GaugeId, MetricSet, RateId, TrendId};

/// A cheap handle of one worker's [`MetricSet`]. It stays on that worker's thread, so recording takes no lock;
/// no method keeps the set borrowed, so handles may be used anywhere between two `await`s.
#[derive(Clone, Debug)]
pub struct Recorder {
    set: Rc<RefCell<MetricSet>>,
}

impl Recorder {
    /// A handle of a new worker's set.
    pub fn new(set: MetricSet) -> Self {
        Self {
            set: Rc::new(RefCell::new(set)),
        }
    }

    /// Adds `n` to a counter.
    pub fn count(&self, id: CounterId, n: u64) {
        self.set.borrow_mut().count(id, n);
    }

    /// Sets a gauge.
    pub fn set(&self, id: GaugeId, value: f64) {
        self.set.borrow_mut().set(id, value);
    }

    /// Adds one sample to a rate.
    pub fn rate(&self, id: RateId, is_true: bool) {
        self.set.borrow_mut().rate(id, is_true);
    }

    /// Adds one sample to a trend.
    pub fn record(&self, id: TrendId, duration: Duration) {
        self.set.borrow_mut().record(id, duration);
    }

    /// Adds one answer to a check and gives it back, so that a caller can act on it.
    pub fn check(&self, id: CheckId, passed: bool) -> bool {
        self.set.borrow_mut().check(id, passed);
        passed
    }

    /// All that was recorded since the last call.
    pub fn take(&self) -> MetricSet {
        self.set.borrow_mut().take()
    }
}
