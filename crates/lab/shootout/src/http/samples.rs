//! Single requests, for `-g`.

use std::time::{Duration, Instant};

/// The largest number of kept samples. Reason: 240 MB, and more lines than a plot can show.
pub(crate) const MAX_SAMPLES: usize = 10_000_000;

/// One complete request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The start of the request, in microseconds since the start of the run.
    pub(crate) started_us: u64,
    pub(crate) connect_us: u32,
    pub(crate) total_us: u32,
    pub(crate) waiting_us: u32,
}

/// The samples of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    begin: Instant,
    room: usize,
    pub(crate) kept: Vec<Sample>,
    /// The number of samples beyond the limit.
    pub(crate) n_left_out: u64,
}

impl Samples {
    /// Room for a worker's share of [`MAX_SAMPLES`].
    pub(crate) fn new(begin: Instant, n_workers: usize) -> Self {
        Self {
            begin,
            room: MAX_SAMPLES / n_workers.max(1),
            kept: Vec::new(),
            n_left_out: 0,
        }
    }

    pub(crate) fn record(&mut self, started: Instant, connect: Duration, total: Duration, waiting: Duration) {
        if self.kept.len() >= self.room {
            self.n_left_out += 1;
            return;
        }
        let short = |time: Duration| u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
        let since_begin = started.saturating_duration_since(self.begin).as_micros();
        self.kept.push(Sample {
            started_us: u64::try_from(since_begin).unwrap_or(u64::MAX),
            connect_us: short(connect),
            total_us: short(total),
            waiting_us: short(waiting),
        });
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.n_left_out += other.n_left_out;
    }
}
