//! The load generator's own health: was it the generator, and not the target, that set the figures?
//!
//! Three causes are told apart: the generator itself, other programs on its machine, and the target, which is what
//! remains.
//!
//! # What is measured
//!
//! * **Lateness** of each worker: an absolute-time tick of the kernel every 10 ms, on the same event loop as the virtual
//!   users. The tick is a reply that the generator sends to itself: it wakes the thread, waits in the run queue and in
//!   the event loop like any other, and its true latency is zero. So a reply that comes in at a random moment is read
//!   as late as a random tick. Ticks that were missed during a stall are all counted, so a stall of a second weighs as
//!   a second and not as one sample.
//! * **Busy share** of each worker: CPU time of its thread per wall time, in windows of one second. A worker is one
//!   thread with one event loop, so a busy share near 1 means that it has no room: it cannot offer more load, and
//!   replies queue up in front of it. Other programs on the machine do not affect this.
//! * **Waiting share** of each worker: the time in which its thread was ready to run and no CPU took it, from the
//!   kernel's run queue.
//! * **Other programs**: their CPU, by name, without this process, its children, and the targets.
//! * **Idle share** of the machine and, where the kernel has it, its pressure. They prove nothing: a target at its
//!   limit also leaves no idle CPU.
//!
//! # The bound
//!
//! [`Evidence::lateness_bound`] is the 99th percentile of the lateness. At least 99 % of the replies that came in at
//! random moments were read less late than that, so the reported 95th percentile less the bound is at most the true
//! 96th. Without a schedule, whose late starts count as well, it cannot be too high by more than itself either, which is the smaller bound where replies are quick and many: few
//! of them meet a stall that many ticks meet. Replies that all come in at once, a burst shorter than 1 % of the time, can be read later than the bound: the
//! generator reads them one after the other. The maximum is reported beside it.
//!
//! # What follows
//!
//! The figures of a run are doubtful when one of these holds:
//!
//! 1. The busiest worker spent [`BUSY_TIME_SHARE`] of the run or more in windows with a busy share of at least
//!    [`BUSY_SHARE`]. The throughput is then the generator's: only then it was the bottleneck.
//! 2. The bound is at least the tolerance: [`LATENESS`], or a tenth of the latency that the run reports, whichever is
//!    longer. The latencies then contain the generator's own delay. The tenth keeps an overloaded target apart from an
//!    overloaded generator: replies that took 8 s were not made slow by a tick that was 20 ms late. A reported latency
//!    that is itself below [`LATENESS`] cannot be too high by more.
//! 3. At least [`DROPPED_SHARE`] of the iterations that arrival executors wanted were dropped. What the others
//!    measured is then not what the planned arrivals would have seen.
//!
//! A machine without idle CPU is no reason. When the scheduler gives the generator its turn in time, the figures are
//! right: the target really had no more CPU. Other programs that took it are named.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

mod agents;
mod evidence;
mod judgement;
mod machine;
mod pressure;
mod programs;
mod pulse;
mod run_queue;
mod ticks;
mod window;

pub use self::{
    evidence::{Evidence, LATE_TICK_SHARE},
    judgement::{
        BUSY_SHARE, BUSY_TIME_SHARE, DROPPED_SHARE, Doubt, Health, LATE_TICKS, LATENESS, Ms, NO_IDLE_SHARE,
        Schedule, bunched, busy, dropped, judge, late, other_programs, too_high,
    },
    pressure::PressureShares,
    programs::{OtherPrograms, Program},
    pulse::TICK,
    window::Window,
};
use self::{
    machine::MachineCpu,
    pressure::Pressure,
    programs::Programs,
    pulse::{Pulse, Reading},
    run_queue::RunQueue,
    ticks::Ticks,
};
use crate::{
    cpu_clock,
    watch::{Place, own_rss_bytes},
};

/// Time between two looks at the processes of the machine. Reason: a look reads a small file for each process, which
/// takes milliseconds; programs that run for less than a second change no figure.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The time until the first look, which doubles up to [`LOOK_EVERY`]. Reason: the target of a short run is found by the
/// connections to it.
const FIRST_LOOK: Duration = Duration::from_millis(100);

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
    /// The processes of the machine, and whether a thread follows them.
    programs: Mutex<Programs>,
    is_followed: AtomicBool,
    /// The reading of the last [`Monitor::glance`].
    glanced: Mutex<(Instant, Duration)>,
}

/// The readings at the begin of the period that the next [`Monitor::take`] will cover.
#[derive(Clone, Copy, Debug)]
struct Since {
    at: Instant,
    cpu: Duration,
    machine: Option<MachineCpu>,
    pressure: Pressure,
}

/// The observations of a [`Monitor`] since the last glance; for series over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

    /// This and the next glance of the same machine together.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self {
            elapsed: self.elapsed.saturating_add(next.elapsed),
            cpu: self.cpu.saturating_add(next.cpu),
            lateness_max: self.lateness_max.max(next.lateness_max),
            rss_bytes: self.rss_bytes.max(next.rss_bytes),
        }
    }

    /// This and the glance of another machine at the same time: CPU time and memory of both, in the longer of the two
    /// periods, and the latest tick of any worker.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        let rss = [self.rss_bytes, other.rss_bytes];
        Self {
            elapsed: self.elapsed.max(other.elapsed),
            cpu: self.cpu.saturating_add(other.cpu),
            lateness_max: self.lateness_max.max(other.lateness_max),
            rss_bytes: rss.into_iter().flatten().reduce(u64::saturating_add),
        }
    }
}

impl Monitor {
    /// Begins the first period now.
    pub fn new() -> Self {
        let shared = Shared {
            workers: Mutex::default(),
            since: Mutex::new(Since::now()),
            programs: Mutex::default(),
            is_followed: AtomicBool::new(false),
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
        self.follow_programs();
        let pulse = Arc::new(Mutex::new(Pulse::new()));
        lock(&self.shared.workers).push(Arc::clone(&pulse));
        let queue = RunQueue::of_this_thread();
        let mut ticks = Ticks::new();
        loop {
            let (late, at) = ticks.next().await;
            let reading = Reading {
                at,
                cpu: cpu_clock::this_thread(),
                waited: queue.waited(),
            };
            lock(&pulse).beat(late, reading);
        }
    }

    /// These are targets, too: they and their children do not count as other programs.
    pub fn leave_out(&self, targets: &[Place]) {
        lock(&self.shared.programs).leave_out(targets);
    }

    /// Looks at the processes of the machine once per second, on a thread of its own, until the monitor is gone.
    fn follow_programs(&self) {
        if self.shared.is_followed.swap(true, Relaxed) {
            return;
        }
        let shared = Arc::downgrade(&self.shared);
        let follow = move || {
            let mut pause = FIRST_LOOK;
            loop {
                // Nothing wakes it, and an early look does no harm.
                thread::park_timeout(pause);
                let Some(shared) = Weak::upgrade(&shared) else {
                    return;
                };
                lock(&shared.programs).look();
                pause = LOOK_EVERY.min(pause * 2);
            }
        };
        // Without the thread, only the begin and the end of a period are looked at.
        let _ = thread::Builder::new().name("programs".to_owned()).spawn(follow);
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
        let elapsed = now.at.saturating_duration_since(since.at);
        let mut evidence = Evidence {
            elapsed,
            pressure: now.pressure.since(since.pressure, elapsed),
            others: lock(&self.shared.programs).take(elapsed),
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
            pressure: Pressure::read(),
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
