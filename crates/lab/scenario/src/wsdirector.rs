//! wsdirector's scenarios: groups of WebSocket clients that send and expect messages and meet at barriers.
//!
//! [`Scenario::read`] reads a file at one scale; [`Users`] are its clients for the engine, each with one iteration; and
//! an [`Outcome`] is their result. `docs/reference/wsdirector.md` lists the differences from wsdirector 1.1.

mod barrier;
mod client;
mod course;
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
mod template;
mod timings;
mod users;

pub(crate) use self::keys::FILE;
pub use self::{
    failure::Failure,
    outcome::{GroupOutcome, Outcome, TimedStep},
    scenario::{Group, Scenario},
    template::fill_in,
    users::{Connect, Report, Users, UsersError},
};

#[cfg(test)]
mod tests;
