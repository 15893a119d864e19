//! k6's `constant-arrival-rate` and `ramping-arrival-rate`: an iteration starts when the area under the curve of the
//! rate reaches its number, whether or not earlier ones have ended.
//!
//! All arithmetic is on integers, so a start is exact to the nanosecond and errors do not accumulate. Lengths are in
//! nanoseconds and areas in 1/(2·`time_unit`) of an iteration: a stage of `d` ns from rate `a` to rate `b` has the area
//! `(a + b)·d`, and up to the moment `x` within it `2·a·x + (b − a)·x²/d`.

use std::{sync::Arc, time::Duration};

mod error;
mod poisson;

pub use self::error::ArrivalsError;
use self::poisson::Poisson;
use crate::segment::Stripe;

/// A straight line to `target` iterations per time unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStage {
    /// The duration of the change; zero is a jump.
    pub duration: Duration,
    /// Iterations per time unit at the end of the stage.
    pub target: u64,
}

/// The start times of the iterations of an open model. Pure: all times count from the start of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrivals {
    ramps: Vec<Ramp>,
    /// Area of one iteration: twice the time unit in nanoseconds.
    iteration_area: i128,
    /// The area at which the first iteration starts. A constant rate starts its first one at once, a ramp when the area
    /// is 1.
    first: i128,
    n_total: u64,
    duration: Duration,
    /// In place of evenly.
    poisson: Option<Poisson>,
    /// The arrivals of this instance, if the test is split: then `n_total` is of all instances.
    stripe: Option<Arc<Stripe>>,
}

/// A stage and the totals before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ramp {
    begin_ns: i128,
    duration_ns: i128,
    from: i128,
    target: i128,
    /// Area of all stages before.
    area_before: i128,
}

/// Beyond this the products of [`Ramp`] could overflow; a factor of 8 stays free for their sums.
const MAX_PRODUCT: i128 = i128::MAX / 8;

impl Arrivals {
    /// `rate` iterations per `time_unit`; iteration `k` (from 0) starts at `k·time_unit/rate`, all before `duration`.
    ///
    /// # Errors
    /// No iteration would start, or a number is far too large.
    pub fn constant(rate: u64, time_unit: Duration, duration: Duration) -> Result<Self, ArrivalsError> {
        let stage = RateStage {
            duration,
            target: rate,
        };
        Self::new(rate, time_unit, &[stage], 0)
    }

    /// From `start_rate` through `stages`; iteration `k` (from 0) starts when the area is `k + 1`.
    ///
    /// # Errors
    /// As for [`Self::constant`].
    pub fn ramping(
        start_rate: u64,
        time_unit: Duration,
        stages: &[RateStage],
    ) -> Result<Self, ArrivalsError> {
        Self::new(start_rate, time_unit, stages, 1)
    }

    /// This curve of rates with random arrivals: a Poisson process, whose gaps are exponential. The number of arrivals
    /// is random, too, and may be zero; its mean is the area under the curve. Equal seeds give equal arrivals.
    ///
    /// # Errors
    /// [`ArrivalsError::TooLarge`] if more than 50 million are expected.
    pub fn at_random(self, seed: u64) -> Result<Self, ArrivalsError> {
        let end = self.ramps.last().map_or(0, Ramp::end_area);
        let poisson = Poisson::new(seed, self.iteration_area, end)?;
        Ok(Self {
            n_total: poisson.n_total(),
            poisson: Some(poisson),
            ..self
        })
    }

    /// The arrivals of one instance of a split test: those with its numbers, at the times that they have in the whole.
    #[must_use]
    pub(crate) fn striped(self, stripe: Arc<Stripe>) -> Self {
        Self {
            stripe: Some(stripe),
            ..self
        }
    }

    /// The arrivals before `end`: a curve that is cut off.
    #[must_use]
    pub fn until(self, end: Duration) -> Self {
        Self {
            n_total: self.n_before_of_all(end),
            duration: self.duration.min(end),
            ..self
        }
    }

    fn new(
        start: u64,
        time_unit: Duration,
        stages: &[RateStage],
        first: i128,
    ) -> Result<Self, ArrivalsError> {
        let (mut ramps, mut begin_ns, mut area, mut from) = (Vec::new(), 0_i128, 0_i128, i128::from(start));
        for stage in stages {
            let ramp = Ramp {
                begin_ns,
                duration_ns: nanos(stage.duration)?,
                from,
                target: i128::from(stage.target),
                area_before: area,
            };
            area = ramp.checked_end_area().ok_or(ArrivalsError::TooLarge)?;
            (begin_ns, from) = (begin_ns + ramp.duration_ns, ramp.target);
            ramps.extend((ramp.duration_ns > 0).then_some(ramp));
        }
        let iteration_area = 2 * nanos(time_unit)?;
        if iteration_area == 0 {
            return Err(ArrivalsError::NoTimeUnit);
        }
        let end_ns = u64::try_from(begin_ns).map_err(|_| ArrivalsError::TooLarge)?;
        match (end_ns, area) {
            (0, _) => return Err(ArrivalsError::NoTime),
            (_, 0) => return Err(ArrivalsError::NoRate),
            _ => {}
        }
        // A constant rate starts no iteration at the very end; a ramp may reach its last iteration there.
        let n_total = if first == 0 {
            (area + iteration_area - 1) / iteration_area
        } else {
            area / iteration_area
        };
        let largest = (n_total + 1)
            .checked_mul(iteration_area)
            .and_then(|area| area.checked_mul(begin_ns));
        match (u64::try_from(n_total), largest) {
            (Ok(n_total), Some(largest)) if largest <= MAX_PRODUCT => Ok(Self {
                ramps,
                iteration_area,
                first,
                n_total,
                duration: Duration::from_nanos(end_ns),
                poisson: None,
                stripe: None,
            }),
            _ => Err(ArrivalsError::TooLarge),
        }
    }

    /// The total number of iterations.
    pub fn n_total(&self) -> u64 {
        self.own(self.n_total)
    }

    /// The share of this instance in a number of arrivals.
    fn own(&self, n: u64) -> u64 {
        self.stripe.as_ref().map_or(n, |stripe| stripe.scale(n))
    }

    /// The number of stages, without jumps.
    pub fn n_stages(&self) -> usize {
        self.ramps.len()
    }

    /// The highest rate of all stages, in iterations per second.
    pub fn peak_per_second(&self) -> f64 {
        let peak = self.ramps.iter().map(|ramp| ramp.from.max(ramp.target)).max();
        self.per_second_of(peak.unwrap_or(0) as f64)
    }

    /// The rate at `at`, in iterations per second; after the end that of the end.
    pub fn per_second(&self, at: Duration) -> f64 {
        let at_ns = i128::try_from(at.as_nanos()).unwrap_or(i128::MAX);
        let n_begun = self.ramps.partition_point(|ramp| ramp.begin_ns <= at_ns);
        let ramp = &self.ramps[n_begun.saturating_sub(1)];
        let elapsed = (at_ns - ramp.begin_ns).clamp(0, ramp.duration_ns);
        let share = elapsed as f64 / ramp.duration_ns as f64;
        self.per_second_of(ramp.from as f64 + (ramp.target - ramp.from) as f64 * share)
    }

    fn per_second_of(&self, per_time_unit: f64) -> f64 {
        // An iteration's area is twice the time unit in nanoseconds.
        let share = self.stripe.as_ref().map_or(1.0, |stripe| stripe.share());
        per_time_unit * share * 2e9 / self.iteration_area as f64
    }

    /// The sum of all stages.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The start of iteration `index` (from 0): the first nanosecond at which the area is reached. `None` after the
    /// last one.
    pub fn start(&self, index: u64) -> Option<Duration> {
        let index = self.stripe.as_ref().map_or(index, |stripe| stripe.index(index));
        if index >= self.n_total {
            return None;
        }
        Some(self.time_of_area(match &self.poisson {
            Some(poisson) => poisson.area(index),
            None => (i128::from(index) + self.first) * self.iteration_area,
        }))
    }

    /// The first nanosecond at which the area, which is at most that of all stages, is reached.
    fn time_of_area(&self, area: i128) -> Duration {
        let ramp = &self.ramps[self.ramps.partition_point(|ramp| ramp.end_area() < area)];
        let ns = ramp.begin_ns + ramp.time_of_area(area);
        Duration::from_nanos(u64::try_from(ns).expect("not after the end, which fits"))
    }

    /// The number of iterations that start before `at`.
    pub fn n_before(&self, at: Duration) -> u64 {
        self.own(self.n_before_of_all(at))
    }

    fn n_before_of_all(&self, at: Duration) -> u64 {
        let Some(last_ns) = i128::try_from(at.as_nanos())
            .unwrap_or(i128::MAX)
            .checked_sub(1)
            .filter(|&ns| ns >= 0)
        else {
            return 0;
        };
        let n_ramps_begun = self.ramps.partition_point(|ramp| ramp.begin_ns <= last_ns);
        let ramp = &self.ramps[n_ramps_begun.saturating_sub(1)];
        let elapsed = (last_ns - ramp.begin_ns).clamp(0, ramp.duration_ns);
        if let Some(poisson) = &self.poisson {
            let reached = ramp.area_times_duration(elapsed);
            let n = poisson.n_while(|area| area * ramp.duration_ns <= reached);
            return n.min(self.n_total);
        }
        let n = ramp.area_times_duration(elapsed) / (self.iteration_area * ramp.duration_ns) + 1 - self.first;
        u64::try_from(n).unwrap_or(0).min(self.n_total)
    }
}

impl Ramp {
    /// The area at the end of the stage, when it is within bounds.
    fn checked_end_area(&self) -> Option<i128> {
        let area = (self.from + self.target).checked_mul(self.duration_ns)?;
        let end = self.area_before.checked_add(area)?;
        let largest = end.checked_mul(self.duration_ns.max(1))?;
        (largest <= MAX_PRODUCT).then_some(end)
    }

    fn end_area(&self) -> i128 {
        self.area_before + (self.from + self.target) * self.duration_ns
    }

    /// The area at `elapsed` ns within the stage, times its duration: so it stays an integer.
    fn area_times_duration(&self, elapsed: i128) -> i128 {
        self.area_before * self.duration_ns
            + elapsed * (2 * self.from * self.duration_ns + (self.target - self.from) * elapsed)
    }

    /// The first nanosecond within the stage at which the area is at least `area`, by bisection: 60 steps at most.
    fn time_of_area(&self, area: i128) -> i128 {
        let wanted = area * self.duration_ns;
        let (mut low, mut high) = (0, self.duration_ns);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.area_times_duration(middle) >= wanted {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

fn nanos(duration: Duration) -> Result<i128, ArrivalsError> {
    i64::try_from(duration.as_nanos())
        .map(i128::from)
        .map_err(|_| ArrivalsError::TooLarge)
}

#[cfg(test)]
mod tests;
