//! Decides which load to try next, and when the line is found.
//!
//! # The line
//!
//! Near the edge it is a matter of chance whether a step holds its objectives: the share of steps that hold falls from
//! 1 to 0 over some width. The line is the load at which a step is as likely to hold as to fail. It is given as an
//! interval: most steps held at the lower end, most failed at the upper one, and the two are no further apart than the
//! precision.
//!
//! # The way to it
//!
//! 1. From [`Settings::start`] the load doubles while steps hold; one step per load is enough until one fails.
//! 2. A load has a verdict when one kind of vote has the majority of [`Settings::repeat`] steps, so with 3 when it has
//!    two. A failed step is therefore repeated before it counts, and so is one with a saturated generator.
//! 3. After the first verdict against a load, the greatest one that held gets its majority first: it shows whether the
//!    target recovered from the overload. Then the interval is halved, with a majority for each load, until it is
//!    narrow enough.
//! 4. Both ends get the rest of their steps, and the confidence is computed from their votes.
//!
//! A load that both held and failed may be chance, or the target may have died in between. So the least load that ever
//! held gets its majority, too: if it fails, the target has changed since the beginning, and the search says so instead
//! of finding a line at the load of a dead target.
//!
//! Loads with a saturated generator end the search upwards like failed ones, but are never called the target's limit.
//! Why these rules: decision 8.

use std::collections::BTreeMap;

mod ballot;

pub use self::ballot::{Ballot, Vote};

/// What is searched, and how carefully.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The lowest useful load, at least 1.
    pub least: u64,
    /// The first load that is tried.
    pub start: u64,
    /// No load above this is tried.
    pub max: u64,
    /// The number of steps at each end of the interval. Odd numbers make majorities; an even number counts as the next
    /// odd one.
    pub repeat: u32,
    /// The greatest distance of the ends, as a share of the lower one, above 0.
    pub precision: f64,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// How it ended.
    pub end: End,
    /// The greatest load that holds, or held before the target [degraded](End::Degraded). `None` if none does.
    pub holds: Option<Level>,
    /// The least failed load above it. `None` if none was found.
    pub breaks: Option<Level>,
}

/// The end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The line lies between two loads.
    Found,
    /// The greatest load that was allowed holds, so the line is above it.
    Max,
    /// The generator was the bottleneck at the upper load, so the line is at the lower load or above.
    Generator,
    /// Not even the lowest load holds.
    NothingHolds,
    /// A load that held at first now fails, and so does the least one that held: the target changed.
    Degraded,
    /// The search was ended early.
    Interrupted,
}

/// The search. What is next follows from the votes alone.
#[derive(Clone, Debug)]
pub struct Search {
    settings: Settings,
    ballots: BTreeMap<u64, Ballot>,
}

impl Default for Settings {
    /// From 10 upwards without an end, three steps at each end, 5 % apart.
    fn default() -> Self {
        Self {
            least: 1,
            start: 10,
            max: u64::MAX / 4,
            repeat: 3,
            precision: 0.05,
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
                repeat: settings.repeat.max(1) | 1,
                precision: settings.precision.max(f64::EPSILON),
            },
            ballots: BTreeMap::new(),
        }
    }

    /// The settings, corrected.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Records the vote of a step at this load.
    pub fn record(&mut self, load: u64, vote: Vote) {
        self.ballots.entry(load).or_default().add(vote);
    }

    /// What to do now. Constant until the next [`Self::record`].
    pub fn next(&self) -> Next {
        let (holds, limit) = (self.best(), self.limit());
        if let Some(undecided) = self.undecided_above(holds.map(|level| level.load), limit) {
            return Next::Take(undecided);
        }
        match (holds, limit) {
            (None, None) => Next::Take(self.settings.start),
            (Some(holds), None) => self.climb(holds),
            (None, Some(limit)) if limit.load > self.settings.least => Next::Take(self.settings.least),
            (None, Some(limit)) => Next::Done(self.nothing(limit)),
            (Some(holds), Some(limit)) => self.close_in(holds, limit),
        }
    }

    /// The result if the search is ended now.
    pub fn so_far(&self) -> Line {
        Line {
            end: End::Interrupted,
            holds: self.best(),
            breaks: self.limit(),
        }
    }

    /// The greatest load that held in some step, below the least load with a verdict against it.
    fn best(&self) -> Option<Level> {
        let end = self.limit().map_or(u64::MAX, |limit| limit.load);
        let held = self.levels().rev().filter(|level| level.ballot.held > 0);
        held.into_iter().find(|level| level.load < end)
    }

    /// The least load with a verdict against it. It outweighs higher loads that held, because a line below which steps
    /// fail would be useless.
    fn limit(&self) -> Option<Level> {
        self.levels().find(|level| {
            let decision = level.ballot.decision(self.settings.repeat);
            decision.is_some_and(|vote| vote != Vote::Held)
        })
    }

    /// A load between the ends that has votes and neither a verdict nor a step that held.
    fn undecided_above(&self, holds: Option<u64>, limit: Option<Level>) -> Option<u64> {
        let begin = holds.map_or(0, |load| load + 1);
        let end = limit.map_or(u64::MAX, |limit| limit.load);
        self.ballots.range(begin..end).map(|(&load, _)| load).next()
    }

    fn climb(&self, holds: Level) -> Next {
        if holds.load < self.settings.max {
            return Next::Take(holds.load.saturating_mul(2).min(self.settings.max));
        }
        if !self.is_complete(holds) {
            return Next::Take(holds.load);
        }
        Next::Done(Line {
            end: End::Max,
            holds: Some(holds),
            breaks: None,
        })
    }

    fn close_in(&self, holds: Level, limit: Level) -> Next {
        if let Some(suspect) = self.suspect() {
            return Next::Take(suspect);
        }
        if holds.ballot.decision(self.settings.repeat).is_none() {
            return Next::Take(holds.load);
        }
        let gap = limit.load - holds.load;
        if gap > 1 && gap as f64 > holds.load as f64 * self.settings.precision {
            return Next::Take(between(holds.load, limit.load));
        }
        let ends = [holds, limit];
        match ends.into_iter().find(|&level| !self.is_complete(level)) {
            Some(level) => Next::Take(level.load),
            None => Next::Done(Line {
                end: if limit.ballot.decision(self.settings.repeat) == Some(Vote::Generator) {
                    End::Generator
                } else {
                    End::Found
                },
                holds: Some(holds),
                breaks: Some(limit),
            }),
        }
    }

    /// After a load that both held and failed: the least one that held, while it has no majority.
    fn suspect(&self) -> Option<u64> {
        let is_contradicted = self
            .ballots
            .values()
            .any(|ballot| ballot.held > 0 && ballot.broke > 0);
        let first = self.levels().find(|level| level.ballot.held > 0)?;
        let is_open = first.ballot.decision(self.settings.repeat).is_none();
        (is_contradicted && is_open).then_some(first.load)
    }

    fn nothing(&self, limit: Level) -> Line {
        if limit.ballot.decision(self.settings.repeat) == Some(Vote::Generator) {
            return Line {
                end: End::Generator,
                holds: None,
                breaks: Some(limit),
            };
        }
        let held_once = self.levels().rev().find(|level| level.ballot.held > 0);
        let held_once = held_once.filter(|level| level.load > self.settings.least);
        Line {
            end: if held_once.is_some() {
                End::Degraded
            } else {
                End::NothingHolds
            },
            holds: held_once,
            breaks: Some(limit),
        }
    }

    fn is_complete(&self, level: Level) -> bool {
        level.ballot.n_steps() >= self.settings.repeat
    }

    fn levels(&self) -> impl DoubleEndedIterator<Item = Level> {
        self.ballots.iter().map(|(&load, &ballot)| Level { load, ballot })
    }
}

/// Ends that are further apart than this factor are halved on a logarithmic scale: after a start far too high, the
/// order of magnitude is found first.
const FAR: u64 = 4;

/// The load to try between two that are at least 2 apart.
fn between(low: u64, high: u64) -> u64 {
    if high / low > FAR {
        // Far from both ends: at least twice the lower one, and less than half of the upper one.
        (low as f64 * high as f64).sqrt() as u64
    } else {
        low + (high - low) / 2
    }
}

#[cfg(test)]
mod tests;
