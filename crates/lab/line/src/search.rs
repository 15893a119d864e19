//! Decides which load to try next, and when the line is found.
//!
//! # The line
//!
//! Near the edge it is a matter of chance whether a step holds its objectives: the share of steps that hold falls from
//! 1 to 0 over some width. The line is the greatest load at which a step holds at least as often as it fails. It is
//! given as an [`Interval`] that contains it with [`CONFIDENCE`].
//!
//! # The way to it
//!
//! 1. From [`Settings::start`] the load doubles while steps hold.
//! 2. From the first failed step on, all steps together are fitted ([`fit`]): each load between the ends is weighed by
//!    how well it agrees with every step. The next load is the one whose step tells most. A step may fail by mistake,
//!    so a surprising step is repeated without a rule of its own.
//! 3. The interval is done when it is narrow enough, and when steps from [`Settings::repeat`] separate moments support
//!    each end: a disturbance of several steps in a row cannot make an end alone. A search in which a quarter of the
//!    steps below the line fail finds none.
//!
//! A target may have died, or may not recover from an overload. So after two failed steps without one that held, the
//! greatest load that held is repeated; if it fails, too, the least load that held. If this one fails twice, the target
//! has changed since the beginning, and the search says so instead of finding a line at the load of a dead target.
//!
//! Steps with a saturated generator end the search upwards like failed ones, but are never called the target's limit:
//! without them the steps must give a narrow interval as well, or the line is only known to be at the lower end or above.
//! Why these rules: decision 8.

use std::collections::BTreeMap;

mod ballot;
mod fit;
mod record;

pub use self::{
    ballot::{Ballot, Vote},
    fit::{Fit, Interval},
};
use self::{
    fit::{Posterior, Range},
    record::Record,
};

/// The probability (0 to 1) that the interval contains the line. Simulated searches reach it, see the tests.
pub const CONFIDENCE: f64 = 0.9;

/// What is searched, and how carefully.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The lowest useful load, at least 1.
    pub least: u64,
    /// The first load that is tried.
    pub start: u64,
    /// No load above this is tried.
    pub max: u64,
    /// In how many separate moments steps support each end of the interval, at least 1.
    pub repeat: u32,
    /// The greatest distance of the interval's ends from its middle, as a share of the middle, above 0.
    pub precision: f64,
    /// The search ends after this number of steps, at most [`MOST_STEPS`].
    pub max_steps: u32,
    /// The search goes on while the interval is on both sides of this load. `None` for any line.
    pub expected: Option<u64>,
}

/// The greatest number of steps. Reason: weights of the fit stay representable, and ten times the usual search has told
/// all that it will.
pub const MOST_STEPS: u32 = 120;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Put this load on the target for a step, and [record](Search::record) how it went.
    Take(u64),
    /// The search is done.
    Done(Line),
}

/// A load and the votes of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The load.
    pub load: u64,
    /// Its steps.
    pub ballot: Ballot,
}

/// What the search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// How it ended.
    pub end: End,
    /// Where the line is. `None` without steps that say something, and for a target that degraded.
    pub interval: Option<Interval>,
    /// The fit of all steps. `None` where there is no interval.
    pub fit: Option<Fit>,
    /// The greatest tried load that holds: at or below the interval; or the greatest that held before the target
    /// [degraded](End::Degraded). `None` if none does.
    pub holds: Option<Level>,
    /// The least tried load above the interval, which failed; after [`End::Generator`] the one at which the generator was
    /// the bottleneck. `None` if none was found.
    pub breaks: Option<Level>,
}

/// The end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The interval is narrow enough.
    Found,
    /// The greatest load that was allowed holds, so the line is there or above.
    Max,
    /// The generator was the bottleneck above the interval, so the line is at its lower end or above.
    Generator,
    /// Not even the lowest load holds.
    NothingHolds,
    /// A load that held at first now fails, and so does the least one that held: the target changed.
    Degraded,
    /// The steps or the time were over before the interval was narrow enough.
    Inconclusive(Budget),
    /// The search was ended early.
    Interrupted,
}

/// What a search says about a load that is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// The whole interval is at or above the load.
    Met,
    /// The whole interval is below the load, or the target holds nothing or degraded.
    Missed,
    /// The interval is on both sides.
    Undecided,
}

/// What was spent before the interval was narrow enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// The steps.
    Steps,
    /// The time.
    Time,
}

/// The search. What is next follows from the votes alone.
#[derive(Clone, Debug)]
pub struct Search {
    settings: Settings,
    record: Record,
}

impl Default for Settings {
    /// From 10 upwards without an end, both ends from two separate moments, within 5 %, in at most 40 steps.
    fn default() -> Self {
        Self {
            least: 1,
            start: 10,
            max: u64::MAX / 4,
            repeat: 2,
            precision: 0.05,
            max_steps: 40,
            expected: None,
        }
    }
}

impl Search {
    /// A search without steps. Contradictory settings are corrected: the lowest load is at least 1, and the start lies
    /// between it and the greatest.
    pub fn new(settings: Settings) -> Self {
        let least = settings.least.max(1);
        let max = settings.max.max(least);
        Self {
            settings: Settings {
                least,
                max,
                start: settings.start.clamp(least, max),
                repeat: settings.repeat.max(1),
                precision: settings.precision.max(f64::EPSILON),
                max_steps: settings.max_steps.clamp(1, MOST_STEPS),
                expected: settings.expected,
            },
            record: Record::default(),
        }
    }

    /// The settings, corrected.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Records the vote of a step at this load.
    pub fn record(&mut self, load: u64, vote: Vote) {
        self.record.add(load, vote);
    }

    /// What to do now. Constant until the next [`Self::record`].
    pub fn next(&self) -> Next {
        let posterior = self.posterior(true);
        let next = match self.degradation() {
            Some(next) => next,
            None if !self.record.has_failed() => self.climb(&posterior),
            None => self.close_in(&posterior),
        };
        match next {
            Next::Take(_) if self.record.n_steps() >= self.settings.max_steps as usize => {
                Next::Done(self.spent(Budget::Steps))
            }
            next => next,
        }
    }

    /// The result if the search is interrupted now.
    pub fn so_far(&self) -> Line {
        self.line(End::Interrupted, &self.posterior(true))
    }

    /// The result if the search ends now because its budget is spent.
    pub fn spent(&self, budget: Budget) -> Line {
        self.line(End::Inconclusive(budget), &self.posterior(true))
    }

    fn posterior(&self, with_generator: bool) -> Posterior {
        let Settings { least, max, .. } = self.settings;
        Posterior::new(Range { least, max }, &self.record.tallies(with_generator))
    }

    /// Doubles the load while all steps hold.
    fn climb(&self, posterior: &Posterior) -> Next {
        let Settings { start, max, .. } = self.settings;
        match self.record.greatest_held() {
            None => Next::Take(start),
            Some(held) if held < max => Next::Take(held.saturating_mul(2).min(max)),
            Some(_) => self.confirm_that_max_holds(posterior),
        }
    }

    /// What to do if the target seems to have changed; `None` if it does not.
    fn degradation(&self) -> Option<Next> {
        let least = self.record.least_held()?;
        let failed = self.record.failed_since_held();
        if failed.len() < PATIENCE {
            return None;
        }
        let lowest = failed.iter().copied().min()?;
        // Twice at the most: a dead target fails everywhere.
        if failed.len() <= PATIENCE + 1
            && let Some(known) = self.record.greatest_held_up_to(lowest - 1)
        {
            return Some(Next::Take(known));
        }
        let n_failed = failed.iter().filter(|load| **load <= least).count();
        Some(if n_failed < PATIENCE {
            Next::Take(least)
        } else {
            Next::Done(self.degraded(least))
        })
    }

    /// Narrows the interval, and then confirms both ends.
    fn close_in(&self, posterior: &Posterior) -> Next {
        let Settings {
            least, max, repeat, ..
        } = self.settings;
        if self.record.greatest_held().is_none()
            && let Some(lowest) = self.record.lowest_above(0).filter(|lowest| *lowest > least)
        {
            return Next::Take((lowest / DESCENT).max(least));
        }
        let interval = posterior.interval();
        match interval.high {
            Some(high) if high < least => self.confirm_that_nothing_holds(posterior),
            None if interval.low >= max => self.confirm_that_max_holds(posterior),
            Some(high) if self.is_narrow(interval) && posterior.fit().spurious <= DISTURBED => {
                let is_upper_done = self.record.n_moments_failed(high + 1) >= repeat;
                let is_lower_done = self.record.n_moments_held(interval.low) >= repeat;
                // A quarter of the way inwards, because the ends move inwards with each step that confirms them.
                let line = posterior.fit().line;
                let lower = (interval.low + (line - interval.low) / 4).max(least);
                let upper = high + 1 - (high - line) / 4;
                match (is_lower_done, is_upper_done) {
                    (true, true) => self.conclude(posterior),
                    (false, true) => Next::Take(lower),
                    (true, false) => Next::Take(upper),
                    // A moment ends with a step of the other kind.
                    (false, false) if self.record.has_just_held() => Next::Take(upper),
                    (false, false) => Next::Take(lower),
                }
            }
            _ => Next::Take(match self.undecided(interval) {
                Some(expected) => expected,
                None => posterior.most_informative(self.ceiling()),
            }),
        }
    }

    /// The expected load, if the interval is narrow enough but on both sides of it.
    fn undecided(&self, interval: Interval) -> Option<u64> {
        let Interval { low, high } = interval;
        let is_inside = |it: &u64| low < *it && high.is_some_and(|high| *it <= high);
        self.settings
            .expected
            .filter(is_inside)
            .filter(|_| self.is_precise(interval))
    }

    /// The greatest load that is tried now. From one that held, a load at most doubles, and loads far above one that failed
    /// are not tried, because overload may harm the target.
    fn ceiling(&self) -> u64 {
        let held = self.record.greatest_held().unwrap_or(0);
        let above = self.record.lowest_above(held).unwrap_or(u64::MAX);
        held.saturating_mul(2)
            .max(self.settings.start)
            .min(above.saturating_add(above / 4))
    }

    fn confirm_that_nothing_holds(&self, posterior: &Posterior) -> Next {
        let Settings { least, repeat, .. } = self.settings;
        let ballot = self.ballot(least);
        if ballot.broke + ballot.generator < repeat {
            return Next::Take(least);
        }
        let end = if ballot.generator > ballot.broke {
            End::Generator
        } else {
            End::NothingHolds
        };
        Next::Done(self.line(end, posterior))
    }

    fn confirm_that_max_holds(&self, posterior: &Posterior) -> Next {
        let Settings { max, repeat, .. } = self.settings;
        if self.ballot(max).held < repeat {
            return Next::Take(max);
        }
        Next::Done(self.line(End::Max, posterior))
    }

    /// What to do when both ends are confirmed: the target's own line is the result, if its steps alone give one.
    fn conclude(&self, posterior: &Posterior) -> Next {
        if !self.record.has_saturated() {
            return Next::Done(self.line(End::Found, posterior));
        }
        let of_target = self.posterior(false);
        if self.is_narrow(of_target.interval()) {
            return Next::Done(self.line(End::Found, &of_target));
        }
        // Mostly it is the target that failed: a few more of its steps give its line.
        if self.record.has_mostly_broken_above(posterior.interval().low) {
            return Next::Take(of_target.most_informative(self.ceiling()));
        }
        Next::Done(self.line(End::Generator, posterior))
    }

    /// Whether the interval is narrow enough, and on one side of the expected load.
    fn is_narrow(&self, interval: Interval) -> bool {
        self.is_precise(interval) && self.undecided(interval).is_none()
    }

    fn is_precise(&self, interval: Interval) -> bool {
        interval
            .within()
            .is_some_and(|within| within <= self.settings.precision)
    }

    fn ballot(&self, load: u64) -> Ballot {
        self.record.ballots().get(&load).copied().unwrap_or_default()
    }

    fn degraded(&self, least: u64) -> Line {
        let level = |load| Level {
            load,
            ballot: self.ballot(load),
        };
        Line {
            end: End::Degraded,
            interval: None,
            fit: None,
            holds: self.record.greatest_held().map(level),
            breaks: Some(level(least)),
        }
    }

    fn line(&self, end: End, posterior: &Posterior) -> Line {
        let ballots = self.record.ballots();
        let interval = posterior.interval();
        let breaks = match end {
            End::Generator => saturating(&ballots, interval),
            _ => breaking(&ballots, interval),
        };
        let holds = match end {
            End::Found | End::Generator => holding(&ballots, interval.low),
            _ => mostly_held(&ballots, breaks.map_or(u64::MAX, |breaks| breaks.load)),
        };
        // A saturated generator says nothing about the target above, and no step about loads far above all tried ones.
        let tried = ballots
            .keys()
            .next_back()
            .map_or(0, |load| load.saturating_mul(2));
        let high = interval
            .high
            .filter(|high| end != End::Generator && *high <= tried.max(interval.low));
        Line {
            end,
            interval: (!ballots.is_empty()).then_some(Interval { high, ..interval }),
            fit: (!ballots.is_empty()).then(|| posterior.fit()),
            holds,
            breaks,
        }
    }
}

impl Line {
    /// What is known about a load that is expected to hold.
    pub fn expectation(&self, expected: u64) -> Expectation {
        match (self.end, self.interval) {
            (End::Degraded | End::NothingHolds, _) => Expectation::Missed,
            (_, Some(Interval { low, .. })) if low >= expected => Expectation::Met,
            (_, Some(Interval { high: Some(high), .. })) if high < expected => Expectation::Missed,
            _ => Expectation::Undecided,
        }
    }
}

impl Interval {
    /// The distance of the ends from the middle, as a share of the middle. `None` without an upper end.
    pub fn within(&self) -> Option<f64> {
        let high = self.high?;
        let middle = f64::midpoint(self.low as f64, high as f64);
        Some(if middle > 0.0 {
            (high - self.low) as f64 / 2.0 / middle
        } else {
            0.0
        })
    }
}

/// The greatest tried load up to `low` that held.
fn holding(ballots: &BTreeMap<u64, Ballot>, low: u64) -> Option<Level> {
    let mut below = ballots.range(..=low).rev();
    below.find(|(_, ballot)| ballot.held > 0).map(level)
}

/// The greatest tried load below `breaks` that mostly held.
fn mostly_held(ballots: &BTreeMap<u64, Ballot>, breaks: u64) -> Option<Level> {
    let mut below = ballots.range(..breaks).rev();
    below
        .find(|(_, ballot)| ballot.held * 2 > ballot.n_steps())
        .map(level)
}

/// The least tried load above the interval that failed, or else the least from its lower end on that mostly failed.
fn breaking(ballots: &BTreeMap<u64, Ballot>, interval: Interval) -> Option<Level> {
    let above = interval.high.map(|high| ballots.range(high.saturating_add(1)..));
    let found = above.and_then(|mut above| above.find(|(_, ballot)| ballot.n_steps() > ballot.held));
    let mut mostly = ballots.range(interval.low.saturating_add(1)..);
    let mut mostly = || mostly.find(|(_, ballot)| ballot.held * 2 < ballot.n_steps());
    found.or_else(&mut mostly).map(level)
}

/// The least tried load above the interval's lower end at which the generator was the bottleneck, or else the greatest one.
fn saturating(ballots: &BTreeMap<u64, Ballot>, interval: Interval) -> Option<Level> {
    let is_saturated = |(_, ballot): &(&u64, &Ballot)| ballot.generator > 0;
    let mut above = ballots.range(interval.low.saturating_add(1)..);
    let found = above.find(is_saturated);
    found
        .or_else(|| ballots.iter().rev().find(is_saturated))
        .map(level)
}

fn level((&load, &ballot): (&u64, &Ballot)) -> Level {
    Level { load, ballot }
}

/// The factor between loads while none has held. Reason: a start near the line is more probable than one far above it.
const DESCENT: u64 = 4;

/// The share of steps that fail by mistake beyond which no line is found: a search that is disturbed so often may be
/// wrong about the rest, too.
const DISTURBED: f64 = 0.25;

/// Failed steps in a row after which a load is repeated that held.
const PATIENCE: usize = 2;

#[cfg(test)]
mod tests;
