//! The progress of workers during a run, in shared memory.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use super::{
    spread::{Counts, Spread},
    tally::Tally,
};

/// The counts of one worker: written by it alone, read by the coordinator. Alone on its cache lines, so that workers do
/// not slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Board {
    n_warm_up: AtomicU64,
    n_complete: AtomicU64,
    n_failed: AtomicU64,
    sum_us: AtomicU64,
    times: Spread,
}

/// The counts of all workers at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Requests of the warm-up; the others do not have them.
    pub(crate) n_warm_up: u64,
    /// Complete requests.
    pub(crate) n_complete: u64,
    pub(crate) n_failed: u64,
    /// The sum of the times of complete requests.
    pub(crate) sum: Duration,
    /// The distribution of these times.
    pub(crate) times: Counts,
}

impl Board {
    pub(crate) fn warm_up(&self) {
        add(&self.n_warm_up, 1);
    }

    pub(crate) fn complete(&self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        add(&self.n_complete, 1);
        add(&self.sum_us, us);
        self.times.add(us);
    }

    pub(crate) fn failed(&self) {
        add(&self.n_failed, 1);
    }

    /// The sum over `boards`.
    pub(crate) fn read(boards: &[Self]) -> Reading {
        boards.iter().fold(Reading::default(), |mut sum, board| {
            sum.n_warm_up += board.n_warm_up.load(Relaxed);
            sum.n_complete += board.n_complete.load(Relaxed);
            sum.n_failed += board.n_failed.load(Relaxed);
            sum.sum += Duration::from_micros(board.sum_us.load(Relaxed));
            sum.times.add(&board.times);
            sum
        })
    }
}

impl Reading {
    /// Adds requests that another machine has made.
    pub(crate) fn add(&mut self, tally: &Tally) {
        self.n_complete += tally.n_complete;
        self.n_failed += tally.n_incomplete();
        self.sum = self.sum.saturating_add(tally.total.histogram.sum());
        self.times.add_all(&tally.total.histogram);
    }
}

/// Adds `n`. The counter has one writer, so this needs no locked instruction.
pub(super) fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed).saturating_add(n), Relaxed);
}
