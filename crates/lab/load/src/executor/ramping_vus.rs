//! k6's `ramping-vus`: the number of active virtual users follows straight lines between stages.
//!
//! Within a stage from `a` to `b` users over duration `d` the number becomes `k` at the moment when the line reaches
//! `k`: `stage end − d · (b − k) / (b − a)`, in both directions. A stage of no duration is a jump. The highest user
//! stops first. A user that has to stop finishes its iteration within `graceful_ramp_down`, and no later than
//! `graceful_stop` after the last stage; after that the iteration is interrupted.

use std::{sync::Arc, time::Duration};

use super::{GRACE, MAX_VUS, Window};
use crate::segment::Stripe;

/// A straight line to `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The duration of the change; zero is a jump.
    pub duration: Duration,
    /// Active virtual users at the end of the stage.
    pub target: u32,
}

/// Why a schedule is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Nothing would ever run.
    #[error("no virtual user would ever start; expected a start or at least one target above 0")]
    NoVus,
    /// The whole schedule takes no time.
    #[error(
        "the stages have a total duration of zero; expected at least one stage with a duration, for example 10s"
    )]
    NoTime,
    /// More virtual users than k6 allows.
    #[error("{n_vus} virtual users are too many; the limit is {MAX_VUS}")]
    TooManyVus {
        /// The highest start or target.
        n_vus: u32,
    },
    /// The durations do not fit into the clock.
    #[error("the stages take too long in total; the limit is 292 years")]
    TooLong,
}

/// The schedule. Pure: all times count from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RampingVus {
    start_vus: u32,
    stages: Vec<Stage>,
    duration: Duration,
    graceful_ramp_down: Duration,
    graceful_stop: Duration,
    /// The users of this instance, if the test is split: then the stages are of all instances.
    stripe: Option<Arc<Stripe>>,
}

/// A stage and its beginning.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    begin: Duration,
    duration: Duration,
    from: u32,
    target: u32,
}

impl RampingVus {
    /// A schedule that begins with `start_vus` and goes through `stages`; both graceful periods are 30 s.
    ///
    /// # Errors
    /// No user would run, or a number is far too large.
    pub fn new(start_vus: u32, stages: Vec<Stage>) -> Result<Self, ScheduleError> {
        let total = stages
            .iter()
            .try_fold(Duration::ZERO, |sum, stage| sum.checked_add(stage.duration));
        let duration = total
            .filter(|total| i64::try_from(total.as_nanos()).is_ok())
            .ok_or(ScheduleError::TooLong)?;
        let plan = Self {
            start_vus,
            stages,
            duration,
            graceful_ramp_down: GRACE,
            graceful_stop: GRACE,
            stripe: None,
        };
        match plan.max_vus() {
            0 => Err(ScheduleError::NoVus),
            n_vus if n_vus > MAX_VUS => Err(ScheduleError::TooManyVus { n_vus }),
            _ if duration.is_zero() => Err(ScheduleError::NoTime),
            _ => Ok(plan),
        }
    }

    /// How long a virtual user may finish its iteration when the number ramps down.
    #[must_use]
    pub fn graceful_ramp_down(self, graceful_ramp_down: Duration) -> Self {
        Self {
            graceful_ramp_down,
            ..self
        }
    }

    /// How long iterations may continue after the last stage.
    #[must_use]
    pub fn graceful_stop(self, graceful_stop: Duration) -> Self {
        Self {
            graceful_stop,
            ..self
        }
    }

    /// The schedule of one instance of a split test: each of its users is active when that user is in the whole.
    #[must_use]
    pub(crate) fn striped(self, stripe: Arc<Stripe>) -> Self {
        Self {
            stripe: Some(stripe),
            ..self
        }
    }

    /// The share of this instance in a number of users.
    fn own(&self, n: u32) -> u32 {
        let share = self.stripe.as_ref().map(|stripe| stripe.scale(n.into()));
        share.and_then(|share| u32::try_from(share).ok()).unwrap_or(n)
    }

    /// The number of stages.
    pub fn n_stages(&self) -> usize {
        self.stages.len()
    }

    /// How long a virtual user may finish its iteration when the number ramps down; see
    /// [`Self::graceful_ramp_down`].
    pub fn ramp_down_grace(&self) -> Duration {
        self.graceful_ramp_down
    }

    /// The sum of all stages.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The latest time at which the last iteration is interrupted.
    pub fn max_duration(&self) -> Duration {
        self.duration.saturating_add(self.graceful_stop)
    }

    /// The number of virtual users that must exist (k6's `vus_max`): the highest number that the line touches, even for
    /// no time.
    pub fn max_vus(&self) -> u32 {
        let targets = self.stages.iter().map(|stage| stage.target);
        self.own(targets.fold(self.start_vus, u32::max))
    }

    /// The planned number of active virtual users at `at`. Zero from [`Self::duration`] on.
    pub fn n_planned(&self, at: Duration) -> u32 {
        self.ramps()
            .find(|ramp| at < ramp.end())
            .map_or(0, |ramp| self.own(ramp.n_planned(at - ramp.begin)))
    }

    /// The windows of virtual user number `index` (from 0) in the order of time: at most one more than the number of
    /// stages. A user that the line only touches has a window of no length: it is created, as in k6, and never runs.
    pub fn windows(&self, index: u32) -> Vec<Window> {
        let in_test = self.stripe.as_ref().map(|stripe| stripe.index(index.into()));
        let index = in_test
            .and_then(|index| u32::try_from(index).ok())
            .unwrap_or(index);
        let mut windows: Vec<Window> = Vec::new();
        let window = |(start, stop)| Window {
            start,
            stop,
            interrupt: stop,
        };
        for (start, stop) in self.active_times(index).filter(|(start, stop)| start < stop) {
            match windows.last_mut() {
                Some(last) if last.stop == start => last.stop = stop,
                _ => windows.push(window((start, stop))),
            }
        }
        if windows.is_empty() {
            windows.extend(self.active_times(index).next().map(window));
        }
        self.set_interrupts(&mut windows);
        windows
    }

    /// Periods of activity within each stage, also of no length. A later one may begin where an earlier one ends.
    fn active_times(&self, index: u32) -> impl Iterator<Item = (Duration, Duration)> {
        self.ramps().filter_map(move |ramp| {
            let (start, stop) = ramp.active_time(index)?;
            Some((ramp.begin + start, ramp.begin + stop))
        })
    }

    fn set_interrupts(&self, windows: &mut [Window]) {
        let mut next: Option<Window> = None;
        for window in windows.iter_mut().rev() {
            let interrupt = window
                .stop
                .saturating_add(self.graceful_ramp_down)
                .min(self.max_duration());
            let runs_on = next.filter(|next| next.start <= interrupt);
            window.interrupt = runs_on.map_or(interrupt, |next| next.interrupt);
            next = Some(*window);
        }
    }

    fn ramps(&self) -> impl Iterator<Item = Ramp> {
        let (mut begin, mut from) = (Duration::ZERO, self.start_vus);
        self.stages.iter().map(move |&Stage { duration, target }| {
            let ramp = Ramp {
                begin,
                duration,
                from,
                target,
            };
            (begin, from) = (ramp.end(), target);
            ramp
        })
    }
}

impl Ramp {
    fn end(&self) -> Duration {
        self.begin + self.duration
    }

    /// Planned users at `elapsed`, which is below the duration of the stage.
    fn n_planned(&self, elapsed: Duration) -> u32 {
        let n_steps =
            u128::from(self.from.abs_diff(self.target)) * elapsed.as_nanos() / self.duration.as_nanos();
        let n_steps = u32::try_from(n_steps).expect("fewer steps than the difference of two u32");
        if self.from <= self.target {
            self.from + n_steps
        } else {
            self.from - n_steps
        }
    }

    /// When the user `index` is active within the stage, in time since its beginning. `None` if never.
    fn active_time(&self, index: u32) -> Option<(Duration, Duration)> {
        let (starts_active, ends_active) = (index < self.from, index < self.target);
        match (starts_active, ends_active) {
            (false, false) => None,
            (true, true) => Some((Duration::ZERO, self.duration)),
            (false, true) => Some((self.time_of_step(index + 1 - self.from), self.duration)),
            (true, false) => Some((Duration::ZERO, self.time_of_step(self.from - index))),
        }
    }

    /// When the `n`-th change by one occurs: the first nanosecond at which [`Self::n_planned`] has changed.
    fn time_of_step(&self, n: u32) -> Duration {
        let ns =
            (u128::from(n) * self.duration.as_nanos()).div_ceil(u128::from(self.from.abs_diff(self.target)));
        Duration::from_nanos(u64::try_from(ns).expect("not above the duration, which was checked to fit"))
    }
}

#[cfg(test)]
mod tests;
