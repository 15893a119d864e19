//! wsdirector's scenarios: groups of WebSocket clients that send and expect messages and meet at barriers.
//!
//! [`Scenario::read`] reads a file at one scale; [`Users`] are its clients for the engine, each with one iteration; and
//! an [`Outcome`] is their result. `docs/reference/wsdirector.md` lists the differences from wsdirector 1.1.

mod barrier;
mod client;
mod course;
mod erb;
mod expectation;
mod expression;
mod failure;
mod heartbeat;
mod keys;
mod mailbox;
mod outcome;
mod pattern;
mod phoenix;
mod reading;
mod scenario;
mod steps;
mod timings;
mod users;
mod voice;

pub(crate) use self::keys::FILE;
pub use self::{
    erb::fill_in,
    failure::Failure,
    outcome::{GroupOutcome, Outcome, TimedStep},
    scenario::{Group, Scenario},
    users::{Connect, Report, Users, UsersError},
    voice::Voice,
};

#[cfg(test)]
mod tests;
