//! Phases: when virtual users arrive (Artillery's `config.phases`), as arrivals of the engine.

use std::time::Duration;

use plimsoll_load::{
    executor::{
        Arrivals, ArrivalsError, Executor, OpenModel, RampingVus, RateStage, ScheduleError, Stage, WhenLate,
    },
    plan::Scenario,
};

/// One phase. Phases follow each other; users outlive the phase that they arrived in.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What people call it.
    pub name: Option<String>,
    /// How long it lasts.
    pub duration: Duration,
    /// Who arrives.
    pub kind: Kind,
    /// The spacing of arrivals at a rate.
    pub spacing: Spacing,
    /// The most active users, including those of earlier phases. Further arrivals are skipped.
    pub max_vusers: Option<u32>,
}

/// The spacing of users that arrive at a rate (Artillery's `mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly, or along a ramp (`uniform`).
    #[default]
    Even,
    /// At random, with exponential gaps (`poisson`).
    Poisson {
        /// The seed of the random numbers. Equal seeds give equal arrivals.
        seed: u64,
    },
}

/// The kinds of phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// No users.
    Pause,
    /// Evenly, per second.
    Rate(Rate),
    /// A rate that changes evenly from the first to the second.
    Ramp(Rate, Rate),
    /// So many in all, evenly.
    Count(u64),
    /// A closed model: this many users at once, each replaced by another one when it is done. Not in Artillery.
    Users(u32),
    /// A closed model whose number of users changes evenly from the first to the second.
    RampingUsers(u32, u32),
}

/// Why a phase cannot be scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhaseError {
    /// Its arrivals cannot be.
    #[error(transparent)]
    Arrivals(#[from] ArrivalsError),
    /// Its number of users cannot be.
    #[error(transparent)]
    Users(#[from] ScheduleError),
}

/// Arrivals per second, in millionths, so that fractions such as 0.1 are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate(u64);

/// Resolution of a rate.
const PER_UNIT: u64 = 1_000_000;

/// The most users of a closed phase. Reason: all of them are created before the start, at 2 KB each; far more than one
/// machine has ports for.
pub(super) const MOST_USERS: u32 = 1_000_000;

/// The highest rate. Reason: a thousand times the connections that one machine can open, and within the engine's
/// arithmetic.
const HIGHEST: f64 = 1e9;

/// The most virtual users created before the start for each phase. Reason: one machine has about 28,000 ports for one
/// target, so no phase keeps more of them busy; an idle one costs about 2 KB. Further ones are created when they are
/// needed.
const MOST_MADE_BEFORE: u64 = 50_000;

impl Spacing {
    /// The spacing with this Artillery name; `seed` is for one at random.
    pub fn of_mode(name: &str, seed: u64) -> Option<Self> {
        match name {
            "uniform" => Some(Self::Even),
            "poisson" => Some(Self::Poisson { seed }),
            _ => None,
        }
    }
}

impl Rate {
    /// A rate per second. `None` if it is negative or far too large.
    pub fn per_second(rate: f64) -> Option<Self> {
        (0.0..=HIGHEST)
            .contains(&rate)
            .then(|| Self((rate * PER_UNIT as f64).round() as u64))
    }

    fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Phase {
    /// Whether any user may arrive.
    pub fn has_users(&self) -> bool {
        let has_users = match self.kind {
            Kind::Pause => false,
            Kind::Rate(rate) => !rate.is_zero(),
            Kind::Ramp(from, to) => !(from.is_zero() && to.is_zero()),
            Kind::Count(n) => n > 0,
            Kind::Users(n) => n > 0,
            Kind::RampingUsers(from, to) => from.max(to) > 0,
        };
        has_users && !self.duration.is_zero()
    }

    /// Whether finished users are replaced.
    pub fn is_closed(&self) -> bool {
        matches!(self.kind, Kind::Users(_) | Kind::RampingUsers(..))
    }

    /// The times at which users arrive, since the start of the phase. `None` without arrivals, and for a closed model.
    ///
    /// # Errors
    /// The numbers are too large for a schedule.
    pub fn arrivals(&self) -> Result<Option<Arrivals>, ArrivalsError> {
        // A second for each unit of a rate, so that its millionths are whole numbers.
        let unit = Duration::from_secs(PER_UNIT);
        if !self.has_users() {
            return Ok(None);
        }
        let arrivals = match self.kind {
            Kind::Pause | Kind::Users(_) | Kind::RampingUsers(..) => return Ok(None),
            Kind::Rate(rate) => Arrivals::constant(rate.0, unit, self.duration)?,
            Kind::Ramp(from, to) => {
                let stage = RateStage {
                    duration: self.duration,
                    target: to.0,
                };
                Arrivals::ramping(from.0, unit, &[stage])?
            }
            Kind::Count(n) => Arrivals::constant(n, self.duration, self.duration)?,
        };
        let arrivals = match (self.spacing, self.kind) {
            // A given number of arrivals is exact.
            (Spacing::Even, _) | (_, Kind::Count(_)) => arrivals,
            (Spacing::Poisson { seed }, _) => arrivals.at_random(seed)?,
        };
        Ok((arrivals.n_total() > 0).then_some(arrivals))
    }

    /// The phase as a scenario of the engine that begins at `start`, with users that may run until `limit`.
    ///
    /// # Errors
    /// The numbers are too large for a schedule.
    pub fn scenario(
        &self,
        position: usize,
        start: Duration,
        limit: Duration,
    ) -> Result<Option<Scenario>, PhaseError> {
        let executor = match self.kind {
            Kind::Users(n) => self.closed(n, n, start, limit)?,
            Kind::RampingUsers(from, to) => self.closed(from, to, start, limit)?,
            _ => self.open(start, limit)?,
        };
        Ok(executor.map(|executor| Scenario {
            start_time: start,
            ..Scenario::new(&format!("phase-{position}"), executor)
        }))
    }

    fn open(&self, start: Duration, limit: Duration) -> Result<Option<Executor>, PhaseError> {
        let arrivals = self.arrivals()?;
        let arrivals = arrivals.map(|arrivals| arrivals.until(limit.saturating_sub(start)));
        let Some(arrivals) = arrivals.filter(|arrivals| arrivals.n_total() > 0) else {
            return Ok(None);
        };
        let n_users = arrivals.n_total().min(MOST_MADE_BEFORE);
        let open = OpenModel {
            pre_allocated_vus: u32::try_from(n_users).unwrap_or(u32::MAX),
            // Who may not arrive is decided when the moment has come: the limit is for all phases together.
            max_vus: u32::try_from(arrivals.n_total()).unwrap_or(u32::MAX),
            graceful_stop: limit.saturating_sub(start.saturating_add(arrivals.duration())),
            arrivals,
            when_late: WhenLate::Wait,
        };
        Ok(Some(match self.kind {
            Kind::Ramp(..) => Executor::RampingArrivalRate(open),
            _ => Executor::ConstantArrivalRate(open),
        }))
    }

    /// Users that the end of the phase, or a ramp down, does not need any more do their steps to the end, as others
    /// outlive their phase.
    fn closed(
        &self,
        from: u32,
        to: u32,
        start: Duration,
        limit: Duration,
    ) -> Result<Option<Executor>, PhaseError> {
        let left = limit.saturating_sub(start);
        if !self.has_users() || left.is_zero() {
            return Ok(None);
        }
        // A phase that the limit cuts off ends with the number of users reached by then.
        let duration = self.duration.min(left);
        let share = duration.as_secs_f64() / self.duration.as_secs_f64();
        let reached = f64::from(from) + (f64::from(to) - f64::from(from)) * share;
        let target = reached.round() as u32;
        if from.max(target) == 0 {
            return Ok(None);
        }
        let stage = Stage { duration, target };
        let grace = left - duration;
        let plan = RampingVus::new(from, vec![stage])?;
        let plan = plan.graceful_ramp_down(left).graceful_stop(grace);
        Ok(Some(Executor::RampingVus(plan)))
    }
}

#[cfg(test)]
mod tests;
