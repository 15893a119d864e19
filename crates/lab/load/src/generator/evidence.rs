//! Evidence about the generator in one period.

use std::time::Duration;

use crate::histogram::Histogram;

/// The observations of a [`Monitor`](super::Monitor) in one period: the whole run, or one step of it.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Length of the period.
    pub elapsed: Duration,
    /// CPU time of this whole process, all threads.
    pub cpu: Duration,
    /// Share (0 to 1) of the period that the busiest worker spent in windows with at least
    /// [`BUSY_SHARE`](super::BUSY_SHARE).
    pub busy_time_share: f64,
    /// The busiest window of any worker, as a share (0 to 1) of one core.
    pub busiest_share: f64,
    /// How late the ticks of all workers fired.
    pub lateness: Histogram,
    /// The idle share (0 to 1) of all cores of the machine. `None` if `/proc/stat` does not provide it.
    pub machine_idle_share: Option<f64>,
}

impl Evidence {
    /// Of no time at all.
    pub fn nothing() -> Self {
        Self {
            elapsed: Duration::ZERO,
            cpu: Duration::ZERO,
            busy_time_share: 0.0,
            busiest_share: 0.0,
            lateness: Histogram::new(),
            machine_idle_share: None,
        }
    }

    /// Makes this the evidence of both periods together; shares are weighed by how long the periods were.
    pub fn join(&mut self, later: &Self) {
        let [own, others] = [self.elapsed, later.elapsed].map(|elapsed| elapsed.as_secs_f64());
        let mean = |one: f64, other: f64| {
            let seconds = own + others;
            if seconds > 0.0 {
                (one * own + other * others) / seconds
            } else {
                0.0
            }
        };
        self.busy_time_share = mean(self.busy_time_share, later.busy_time_share);
        self.machine_idle_share = match (self.machine_idle_share, later.machine_idle_share) {
            (Some(one), Some(other)) => Some(mean(one, other)),
            (one, other) => one.or(other),
        };
        self.busiest_share = self.busiest_share.max(later.busiest_share);
        self.elapsed += later.elapsed;
        self.cpu += later.cpu;
        self.lateness.merge(&later.lateness);
    }
}
