//! The agents of a fleet that make a run together.

use std::time::Duration;

use crate::generator::Glance;

/// How one of the agents of a fleet stands.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentProgress {
    /// Its name, unique in the fleet.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// Processor cores that it may use.
    pub n_cores: usize,
    /// Its planned part of the load, from 0 to 1.
    pub share: f64,
    /// Virtual users that run iterations now.
    pub active_vus: u32,
    /// Virtual users that existed.
    pub max_vus: u32,
    /// Iterations that ran to their end.
    pub n_iterations_complete: u64,
    /// Its generator, as it has told of it.
    pub generator: Glances,
    /// What is known of its clock. `None`: the clocks were not compared.
    pub clock: Option<ClockOffset>,
    /// How much later than planned its load began, in nanoseconds; negative if it was earlier. `None`: it has not begun,
    /// or there is no common start.
    pub start_skew_ns: Option<i64>,
    /// When it was lost, since the start of the run. `None`: it was not.
    pub lost_at: Option<Duration>,
}

/// The generator of an agent, which tells of it each second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glances {
    /// In the latest second.
    pub recent: Glance,
    /// Since the start of the run.
    pub whole: Glance,
}

impl Glances {
    /// The next second.
    pub fn push(&mut self, glance: Glance) {
        self.recent = glance;
        self.whole = self.whole.and(glance);
    }
}

/// What is known of the clock of another machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// The other clock less the own, in nanoseconds.
    pub ns: i64,
    /// The offset is wrong by this at most, in nanoseconds.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// A time of the own clock on the other one, in nanoseconds.
    pub fn theirs(&self, own_ns: u64) -> u64 {
        own_ns.saturating_add_signed(self.ns)
    }

    /// A time of the other clock on the own one, in nanoseconds.
    pub fn own(&self, their_ns: u64) -> u64 {
        their_ns.saturating_add_signed(self.ns.saturating_neg())
    }
}
