//! `http` on the agents of a fleet.
//!
//! Each agent has a fixed part of the connections, and the requests in the same proportion, dealt out one by one: in the
//! closed model a number, in the open model the starts that fall to it, at the times that they have in one process. So
//! agents need nothing of each other during the run. They begin at the same time, and tell each second what they did.
//!
//! Two things concern all of them. Bodies must have the length of the first response of the whole run: an agent tells of
//! its own first one, the coordinator of the first of all, and until then bodies wait for their judgement. And a failure
//! that ends the run on one agent ends it on all.
//!
//! From the outside in: the `hub` speaks for the coordinator, the [`Deputy`] for an agent, in `letter`s. A `counterpart` is
//! what the coordinator knows of one agent.

mod counterpart;
mod deputy;
mod hub;
mod job;
mod letter;

pub(crate) use self::{deputy::Deputy, hub::Hub, job::Job};
