//! Artillery's files (docs/reference/artillery.md): [`read`] turns a document into a [`Test`], and the test into a plan
//! and virtual users for the engine.
//!
//! A flow is a flat list of steps that a virtual user walks along, so a user without a connection is little more than a
//! position and its variables.

mod caller;
mod capture;
mod condition;
mod duration;
mod ensure;
mod failure;
mod file;
mod flow;
mod http;
mod keys;
mod metrics;
mod payload;
mod phase;
mod processor;
mod program;
mod selector;
mod template;
mod test;
mod user;
mod variables;
mod websocket;

pub(crate) use self::keys::FILE;
pub use self::{
    ensure::{Ensure, Verdict},
    file::{ABSENT_ENGINES, ABSENT_REPORTERS, REPORTERS, ReadBytes, Surroundings, read},
    metrics::{NAMES, RATES},
    phase::{Kind, Phase, PhaseError, Rate, Spacing},
    test::{Gateway, Publication, Slack, Stages, Test, Users},
    user::Activity,
    variables::Globals,
};

/// What reads pages for captures with a `selector`.
pub mod selectors {
    pub use super::selector::{Loaded, Position, Selector};
}

/// What runs the functions of a `processor`.
pub mod hooks {
    pub use super::processor::{
        Argument, Call, FunctionName, Guest, Instance, Introduction, Loaded, Pending, Processor, Response,
        Returned,
    };
}
