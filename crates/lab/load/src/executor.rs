//! Executors: which virtual users run when. Pure schedules in time since the start of their scenario; the run loop
//! acts on them. All seven of k6, with its rules (docs/protocols/k6.md, Executors).

mod arrivals;
mod limits;
mod ramping_vus;
mod window;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::{
    arrivals::{Arrivals, ArrivalsError, RateStage},
    limits::{GRACE, MAX_VUS},
    ramping_vus::{RampingVus, ScheduleError, Stage},
    window::Window,
};

/// The end of endless schedules: 100 years. Reason: an instant that far away still fits into every clock.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The schedule of a scenario's iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// `shared-iterations`: virtual users draw from one store of iterations.
    SharedIterations {
        /// Virtual users.
        vus: u32,
        /// The number of iterations of all users together.
        iterations: u64,
        /// What is not begun by then is dropped.
        max_duration: Duration,
        /// How long iterations may continue after that.
        graceful_stop: Duration,
    },
    /// `per-vu-iterations`: each virtual user has a store of its own.
    PerVuIterations {
        /// Virtual users.
        vus: u32,
        /// Iterations of each.
        iterations: u64,
        /// What is not begun by then is dropped.
        max_duration: Duration,
        /// How long iterations may continue after that.
        graceful_stop: Duration,
    },
    /// `constant-vus`: as many iterations as there is time for.
    ConstantVus {
        /// Virtual users.
        vus: u32,
        /// How long iterations are begun.
        duration: Duration,
        /// How long they may continue after that.
        graceful_stop: Duration,
    },
    /// `ramping-vus`: a number of users that changes.
    RampingVus(RampingVus),
    /// `constant-arrival-rate`: iterations start at scheduled times.
    ConstantArrivalRate(OpenModel),
    /// `ramping-arrival-rate`: iterations start at scheduled times, at a rate that changes.
    RampingArrivalRate(OpenModel),
    /// `externally-controlled`: a person or a program sets the number of active users during the run.
    ExternallyControlled {
        /// Virtual users that are active at first.
        vus: u32,
        /// Virtual users that exist at first.
        max_vus: u32,
        /// `None` means forever.
        duration: Option<Duration>,
    },
}

/// Iterations that start whether or not earlier ones have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenModel {
    /// When they start.
    pub arrivals: Arrivals,
    /// Virtual users that exist from the start.
    pub pre_allocated_vus: u32,
    /// The most users. More are created up to this number when all are busy.
    pub max_vus: u32,
    /// How long iterations may continue after the last stage.
    pub graceful_stop: Duration,
    /// What happens to an iteration without a free user at its scheduled time.
    pub when_late: WhenLate,
}

/// What happens to an iteration that cannot start at its scheduled time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenLate {
    /// It is dropped, as in k6.
    #[default]
    Drop,
    /// It starts later, as in Artillery; its delay is recorded.
    Wait,
}

impl Executor {
    /// k6's name of it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SharedIterations { .. } => "shared-iterations",
            Self::PerVuIterations { .. } => "per-vu-iterations",
            Self::ConstantVus { .. } => "constant-vus",
            Self::RampingVus(_) => "ramping-vus",
            Self::ConstantArrivalRate(_) => "constant-arrival-rate",
            Self::RampingArrivalRate(_) => "ramping-arrival-rate",
            Self::ExternallyControlled { .. } => "externally-controlled",
        }
    }

    /// Virtual users that must exist when the scenario starts.
    pub fn n_planned_vus(&self) -> u32 {
        match self {
            Self::SharedIterations { vus, .. }
            | Self::PerVuIterations { vus, .. }
            | Self::ConstantVus { vus, .. } => *vus,
            Self::RampingVus(plan) => plan.max_vus(),
            Self::ConstantArrivalRate(open) | Self::RampingArrivalRate(open) => open.pre_allocated_vus,
            Self::ExternallyControlled { max_vus, .. } => *max_vus,
        }
    }

    /// Virtual users that may come to exist.
    pub fn max_vus(&self) -> u32 {
        match self {
            Self::ConstantArrivalRate(open) | Self::RampingArrivalRate(open) => open.max_vus,
            _ => self.n_planned_vus(),
        }
    }

    /// How long iterations are begun. `None` means forever.
    pub fn duration(&self) -> Option<Duration> {
        match self {
            Self::SharedIterations { max_duration, .. } | Self::PerVuIterations { max_duration, .. } => {
                Some(*max_duration)
            }
            Self::ConstantVus { duration, .. } => Some(*duration),
            Self::RampingVus(plan) => Some(plan.duration()),
            Self::ConstantArrivalRate(open) | Self::RampingArrivalRate(open) => {
                Some(open.arrivals.duration())
            }
            Self::ExternallyControlled { duration, .. } => *duration,
        }
    }

    /// The latest time at which the last iteration is interrupted. `None`: never.
    pub fn max_duration(&self) -> Option<Duration> {
        Some(self.duration()?.saturating_add(match self {
            Self::SharedIterations { graceful_stop, .. }
            | Self::PerVuIterations { graceful_stop, .. }
            | Self::ConstantVus { graceful_stop, .. } => *graceful_stop,
            Self::RampingVus(plan) => return Some(plan.max_duration()),
            Self::ConstantArrivalRate(open) | Self::RampingArrivalRate(open) => open.graceful_stop,
            Self::ExternallyControlled { .. } => Duration::ZERO,
        }))
    }

    /// The windows of the scenario's virtual user number `position` (from 0), in the order of time.
    pub fn windows(&self, position: u32) -> Vec<Window> {
        if let Self::RampingVus(plan) = self {
            return plan.windows(position);
        }
        vec![self.whole()]
    }

    /// The window of a virtual user that is there for the whole scenario.
    pub fn whole(&self) -> Window {
        Window {
            start: Duration::ZERO,
            stop: self
                .duration()
                .map_or(FOR_EVER, |duration| duration.min(FOR_EVER)),
            interrupt: self
                .max_duration()
                .map_or(FOR_EVER, |duration| duration.min(FOR_EVER)),
        }
    }
}
