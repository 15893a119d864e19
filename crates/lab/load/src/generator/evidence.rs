//! Evidence about the generator in one period.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{pressure::PressureShares, programs::OtherPrograms};
use crate::histogram::{self, Histogram};

/// The share of ticks that the bound leaves out. Reason: it reaches the p99 of the report, and costs the reported p95 one
/// percentile.
pub const LATE_TICK_SHARE: f64 = 0.01;

/// The observations of a [`Monitor`](super::Monitor) in one period: the whole run, or one step of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    #[serde(deserialize_with = "histogram::durations")]
    pub lateness: Histogram,
    /// Share (0 to 1) of the period in which a worker was ready to run and no CPU took it, of the worker that waited
    /// longest. `None` if the kernel does not count it.
    pub waiting_share: Option<f64>,
    /// The idle share (0 to 1) of all cores of the machine. `None` if `/proc/stat` does not provide it.
    pub machine_idle_share: Option<f64>,
    /// How long any program waited for a CPU.
    pub pressure: PressureShares,
    /// The CPU of programs that are neither this one nor the target.
    pub others: OtherPrograms,
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
            waiting_share: None,
            machine_idle_share: None,
            pressure: PressureShares::default(),
            others: OtherPrograms::default(),
        }
    }

    /// By how much reported latencies may be too high because of the generator itself: the 99th percentile of the
    /// lateness. `None` without ticks.
    ///
    /// The reported 95th percentile less the bound is at most the true 96th percentile, if replies come in at random
    /// moments.
    pub fn lateness_bound(&self) -> Option<Duration> {
        let quantile = 1.0 - LATE_TICK_SHARE;
        (!self.lateness.is_empty()).then(|| self.lateness.value_at_quantile(quantile))
    }

    /// CPU time of this process per wall time. Zero for a period without length.
    pub fn cores(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 {
            self.cpu.as_secs_f64() / seconds
        } else {
            0.0
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
        let known = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(mean(one, other)),
            (one, other) => one.or(other),
        };
        self.machine_idle_share = known(self.machine_idle_share, later.machine_idle_share);
        self.waiting_share = known(self.waiting_share, later.waiting_share);
        self.pressure = PressureShares {
            machine: known(self.pressure.machine, later.pressure.machine),
            group: known(self.pressure.group, later.pressure.group),
        };
        self.others.join(self.elapsed, &later.others, later.elapsed);
        self.busiest_share = self.busiest_share.max(later.busiest_share);
        self.elapsed = self.elapsed.saturating_add(later.elapsed);
        self.cpu = self.cpu.saturating_add(later.cpu);
        self.lateness.merge(&later.lateness);
    }

    /// Makes this the evidence of two machines together in the same period.
    ///
    /// CPU times add up, and every tick counts, so the bound holds for the replies of both. Shares are those of the
    /// machine that is worse off. The other programs are those of the machine where they took more: users look there
    /// first, and the sum of many machines would name a lot of CPU where each lost little.
    pub fn beside(&mut self, other: &Self) {
        let known =
            |pick: fn(f64, f64) -> f64, shares: [Option<f64>; 2]| shares.into_iter().flatten().reduce(pick);
        let most = |one, other| known(f64::max, [one, other]);
        let least = |one, other| known(f64::min, [one, other]);
        self.elapsed = self.elapsed.max(other.elapsed);
        self.cpu = self.cpu.saturating_add(other.cpu);
        self.busy_time_share = self.busy_time_share.max(other.busy_time_share);
        self.busiest_share = self.busiest_share.max(other.busiest_share);
        self.lateness.merge(&other.lateness);
        self.waiting_share = most(self.waiting_share, other.waiting_share);
        self.machine_idle_share = least(self.machine_idle_share, other.machine_idle_share);
        self.pressure = PressureShares {
            machine: most(self.pressure.machine, other.pressure.machine),
            group: most(self.pressure.group, other.pressure.group),
        };
        if other.others.cores > self.others.cores {
            self.others = other.others.clone();
        }
    }
}

#[cfg(test)]
mod tests;
