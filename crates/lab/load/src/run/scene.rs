//! One scenario as all workers share it: how many iterations are left, begun and dropped.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
};

use tokio::sync::watch;

use super::{
    ScenarioProgress,
    control::{Control, State},
    slots::Slots,
};
use crate::{executor::Executor, generator::Schedule, plan::Scenario};

/// What decides whether a virtual user begins another iteration while its window lasts.
#[derive(Debug)]
pub(super) enum Work {
    /// Always: `constant-vus` and `ramping-vus`.
    Endless,
    /// While the common store has some left.
    Shared {
        /// Iterations that are left in the store.
        left: AtomicU64,
    },
    /// While its own store has some left.
    Each {
        /// Iterations of each virtual user.
        iterations: u64,
    },
    /// When it has claimed a slot and the slot is due.
    Open(Slots),
    /// While its controller allows it.
    Controlled(watch::Receiver<State>),
}

/// The shared state of one scenario.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) scenario: Arc<Scenario>,
    pub(super) work: Work,
    n_begun: AtomicU64,
    n_under_way: AtomicU32,
    n_complete: AtomicU64,
    n_dropped: AtomicU64,
    /// Virtual users of this scenario; grows for arrival executors and controlled ones.
    n_vus: AtomicU32,
    is_growing: AtomicBool,
}

impl Scene {
    /// A scenario that has not started. `control` is for an externally controlled one.
    pub(super) fn new(scenario: Scenario, control: &Control) -> Self {
        let work = match &scenario.executor {
            Executor::SharedIterations { iterations, .. } => Work::Shared {
                left: AtomicU64::new(*iterations),
            },
            Executor::PerVuIterations { iterations, .. } => Work::Each {
                iterations: *iterations,
            },
            Executor::ConstantVus { .. } | Executor::RampingVus(_) => Work::Endless,
            Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
                Work::Open(Slots::new(open.arrivals.clone(), open.when_late))
            }
            Executor::ExternallyControlled { .. } => Work::Controlled(control.subscribe()),
        };
        Self {
            work,
            n_begun: AtomicU64::new(0),
            n_under_way: AtomicU32::new(0),
            n_complete: AtomicU64::new(0),
            n_dropped: AtomicU64::new(0),
            n_vus: AtomicU32::new(scenario.executor.n_planned_vus()),
            is_growing: AtomicBool::new(false),
            scenario: Arc::new(scenario),
        }
    }

    /// The number of the next iteration, from 0.
    pub(super) fn begin_iteration(&self) -> u64 {
        self.n_begun.fetch_add(1, Relaxed)
    }

    /// Counts an iteration as in progress until the guard is dropped.
    pub(super) fn under_way(&self) -> UnderWay<'_> {
        self.n_under_way.fetch_add(1, Relaxed);
        UnderWay(self)
    }

    /// The progress of the scenario.
    pub(super) fn progress(&self) -> ScenarioProgress<'_> {
        ScenarioProgress {
            scenario: &self.scenario,
            vus: self.n_vus(),
            n_under_way: self.n_under_way.load(Relaxed),
            n_complete: self.n_complete.load(Relaxed),
            n_dropped: self.n_dropped(),
        }
    }

    /// Takes one iteration from the common store. Returns false if it is empty.
    pub(super) fn take_shared(left: &AtomicU64) -> bool {
        left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
            .is_ok()
    }

    /// Counts iterations that will never begin.
    pub(super) fn drop_iterations(&self, n: u64) {
        self.n_dropped.fetch_add(n, Relaxed);
    }

    /// Iterations that were dropped so far.
    pub(super) fn n_dropped(&self) -> u64 {
        self.n_dropped.load(Relaxed)
    }

    /// The fate of its arrivals so far. `None` for a scenario without arrivals.
    pub(super) fn schedule(&self) -> Option<Schedule> {
        let n_dropped = self.n_dropped();
        matches!(self.work, Work::Open(_)).then(|| Schedule {
            n_due: self.n_begun.load(Relaxed) + n_dropped,
            n_dropped,
        })
    }

    /// Drops the rest of the common store, at the end of the scenario.
    pub(super) fn drop_rest(&self) {
        if let Work::Shared { left } = &self.work {
            self.drop_iterations(left.swap(0, Relaxed));
        }
    }

    /// Whether its number of virtual users may change otherwise than by the clock, or its slots may pass.
    pub(super) fn may_change(&self) -> bool {
        matches!(self.work, Work::Open(_) | Work::Controlled(_))
    }

    /// Virtual users that exist for this scenario.
    pub(super) fn n_vus(&self) -> u32 {
        self.n_vus.load(Relaxed)
    }

    /// Starts to create another virtual user, unless one is being created.
    pub(super) fn begin_growth(&self) -> bool {
        !self.is_growing.swap(true, Relaxed)
    }

    /// Another virtual user exists.
    pub(super) fn end_growth(&self) {
        self.n_vus.fetch_add(1, Relaxed);
        self.is_growing.store(false, Relaxed);
    }
}

/// An iteration of a scenario.
pub(super) struct UnderWay<'a>(&'a Scene);

impl UnderWay<'_> {
    /// It ran to its end.
    pub(super) fn complete(self) {
        self.0.n_complete.fetch_add(1, Relaxed);
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.n_under_way.fetch_sub(1, Relaxed);
    }
}
