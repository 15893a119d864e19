//! The load generator's own health: was it the generator, and not the target, that set the figures?
//!
//! # What is measured
//!
//! * **Busy share** of each worker: CPU time of its thread per wall time, in windows of one second. A worker
//!   is one thread with one event loop, so a busy share near 1 means that it has no room: it cannot offer
//!   more load, and replies queue up in front of it. Other programs on the machine do not affect this.
//! * **Lateness** of each worker: an absolute-time tick every 10 ms, on the same event loop as the virtual
//!   users. A tick that fires 30 ms late proves that a reply which came in at that moment was also taken, and
//!   timed, up to 30 ms late, whatever the cause. Ticks that were missed during a stall are all counted, so a
//!   stall of a second weighs as a second and not as one sample.
//! * **Idle share** of the machine, from `/proc/stat`. It proves nothing alone (a target at its limit on the
//!   same machine also leaves no idle CPU), so it only says *why* ticks were late.
//!
//! # What follows
//!
//! A run is marked as saturated when one of these holds:
//!
//! 1. The busiest worker spent [`BUSY_TIME_SHARE`] of the run or more in windows with a busy share of at least
//!    [`BUSY_SHARE`]. The throughput is then the generator's.
//! 2. At least [`LATE_TICK_SHARE`] of the ticks fired later than the tolerance: [`LATENESS`], or a tenth of the
//!    latency that the run reports, whichever is longer. The latencies then contain the generator's own
//!    delay. The tenth keeps an overloaded target apart from an overloaded generator: replies that took 8 s
//!    were not made slow by a tick that was 20 ms late.
//!
//! 3. At least [`DROPPED_SHARE`] of the iterations that arrival executors wanted were dropped. What the others
//!    measured is then not what the planned arrivals would have seen.
//!
//! When generator and target share a machine without idle CPU, the generator waits for the CPU although its
//! own busy share is low. Rule 2 marks that run, because its latencies are not the target's alone; when the
//! scheduler still gives the generator its turn in time, the run is not marked, because then the figures are
//! right: the target really had no more CPU.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

mod evidence;
mod judgement;
mod machine;
mod pulse;

pub use self::{
    evidence::Evidence,
    judgement::{
        BUSY_SHARE, BUSY_TIME_SHARE, DROPPED_SHARE, Health, LATE_TICK_SHARE, LATE_TICKS, LATENESS,
        NO_IDLE_SHARE, Schedule, busy, dropped, judge, late,
    },
    pulse::TICK,
};
use self::{machine::MachineCpu, pulse::Pulse};
use crate::{cpu_clock, watch::own_rss_bytes};

/// Collects the health of all workers of this process. All clones share one collection.
///
/// Each worker takes its lock once per tick, a hundred times per second and almost always alone.
#[derive(Clone, Debug)]
pub struct Monitor {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    workers: Mutex<Vec<Arc<Mutex<Pulse>>>>,
    since: Mutex<Since>,
    /// The reading of the last [`Monitor::glance`].
    glanced: Mutex<(Instant, Duration)>,
}

/// The readings at the begin of the period that the next [`Monitor::take`] will cover.
#[derive(Clone, Copy, Debug)]
struct Since {
    at: Instant,
    cpu: Duration,
    machine: Option<MachineCpu>,
}

/// The observations of a [`Monitor`] since the last glance; for series over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// Length of the period.
    pub elapsed: Duration,
    /// CPU time of this whole process, all threads.
    pub cpu: Duration,
    /// How late the latest tick of any worker fired. `None` without ticks.
    pub lateness_max: Option<Duration>,
    /// Resident memory of this process. `None` if `/proc` does not provide it.
    pub rss_bytes: Option<u64>,
}

impl Glance {
    /// CPU time per wall time: 1.0 is one core kept busy all the time. `None` for a period without length.
    pub fn cores(&self) -> Option<f64> {
        (!self.elapsed.is_zero()).then(|| self.cpu.as_secs_f64() / self.elapsed.as_secs_f64())
    }
}

impl Monitor {
    /// Begins the first period now.
    pub fn new() -> Self {
        let shared = Shared {
            workers: Mutex::default(),
            since: Mutex::new(Since::now()),
            glanced: Mutex::new((Instant::now(), cpu_clock::this_process())),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Watches the calling worker for as long as the future is polled. It never completes.
    ///
    /// Spawn it on the worker's own current-thread runtime, beside its virtual users: it reads the CPU clock of the
    /// thread that polls it, and its tick waits in the same queue as they do.
    pub async fn watch_worker(&self) {
        let pulse = Arc::new(Mutex::new(Pulse::new()));
        lock(&self.shared.workers).push(Arc::clone(&pulse));
        let mut interval = pulse::interval();
        loop {
            let planned = interval.tick().await;
            let now = tokio::time::Instant::now();
            lock(&pulse).beat(
                now.saturating_duration_since(planned),
                now.into_std(),
                cpu_clock::this_thread(),
            );
        }
    }

    /// The observations since the monitor began or since the last glance, whichever is later. Does not affect
    /// [`Self::take`]; costs three system calls.
    pub fn glance(&self) -> Glance {
        let now = (Instant::now(), cpu_clock::this_process());
        let before = std::mem::replace(&mut *lock(&self.shared.glanced), now);
        let latest = lock(&self.shared.workers)
            .iter()
            .filter_map(|worker| lock(worker).take_latest())
            .max();
        Glance {
            elapsed: now.0.saturating_duration_since(before.0),
            cpu: now.1.saturating_sub(before.1),
            lateness_max: latest,
            rss_bytes: own_rss_bytes(),
        }
    }

    /// What happened since the monitor began or since the last call, whichever is later; begins a new period.
    pub fn take(&self) -> Evidence {
        let now = Since::now();
        let since = std::mem::replace(&mut *lock(&self.shared.since), now);
        let mut evidence = Evidence {
            elapsed: now.at.saturating_duration_since(since.at),
            cpu: now.cpu.saturating_sub(since.cpu),
            machine_idle_share: now
                .machine
                .zip(since.machine)
                .and_then(|(now, since)| now.idle_share_since(since)),
            ..Evidence::nothing()
        };
        lock(&self.shared.workers).retain(|worker| {
            lock(worker).take_into(&mut evidence);
            // A worker that has ended no longer holds its pulse.
            Arc::strong_count(worker) > 1
        });
        evidence
    }
}

impl Default for Monitor {
    fn default() -> Self {
        Self::new()
    }
}

impl Since {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            cpu: cpu_clock::this_process(),
            machine: MachineCpu::read(),
        }
    }
}

/// Locks a mutex. All values behind these locks are valid after every statement, so a panic elsewhere does not spoil
/// them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_worker_that_is_never_held_up_is_on_time() {
        let monitor = Monitor::new();
        let run = tokio::time::timeout(Duration::from_secs(2), monitor.watch_worker());
        assert!(run.await.is_err());
        let evidence = monitor.take();
        assert!(
            (200..=201).contains(&evidence.lateness.count()),
            "{}",
            evidence.lateness.count()
        );
        assert!(evidence.lateness.max() < LATENESS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stall_counts_every_missed_tick() {
        let monitor = Monitor::new();
        let watch = monitor.watch_worker();
        tokio::pin!(watch);
        assert!(tokio::time::timeout(TICK / 2, &mut watch).await.is_err());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(tokio::time::timeout(TICK / 2, &mut watch).await.is_err());
        let lateness = monitor.take().lateness;
        assert!((95..=102).contains(&lateness.count()), "{}", lateness.count());
        assert!(
            lateness.max() > Duration::from_millis(980),
            "{:?}",
            lateness.max()
        );
        assert!((45..=55).contains(&lateness.n_at_or_above(Duration::from_millis(500))));
    }

    #[test]
    fn periods_join_by_their_length() {
        let period = |seconds, busy_time_share, machine_idle_share| Evidence {
            elapsed: Duration::from_secs(seconds),
            cpu: Duration::from_secs(1),
            busy_time_share,
            machine_idle_share,
            ..Evidence::nothing()
        };
        let mut joined = Evidence::nothing();
        for part in [
            period(1, 0.0, None),
            period(3, 1.0, Some(0.5)),
            period(1, 0.5, Some(1.0)),
        ] {
            joined.join(&part);
        }
        assert_eq!((joined.elapsed.as_secs(), joined.cpu.as_secs()), (5, 3));
        assert!((joined.busy_time_share - 0.7).abs() < 1e-9);
        // The span before the first known sample counts with its own length.
        assert!((joined.machine_idle_share.unwrap() - 0.6).abs() < 1e-9);
    }

    #[tokio::test(start_paused = true)]
    async fn periods_do_not_overlap() {
        let monitor = Monitor::new();
        let watch = monitor.watch_worker();
        tokio::pin!(watch);
        for _ in 0..2 {
            assert!(
                tokio::time::timeout(Duration::from_secs(1), &mut watch)
                    .await
                    .is_err()
            );
            let n = monitor.take().lateness.count();
            assert!((99..=101).contains(&n), "{n}");
        }
        assert!(monitor.take().lateness.is_empty());
    }
}
