//! Workers on other machines: the agents of a fleet, which hold the clients of one bench together.
//!
//! The run stays with the coordinator: it numbers the clients, connects them, lets them send, and counts. An agent has
//! workers as this process has, and passes their orders and events on. So a bench of several agents is the bench of one
//! process with as many workers, and every count follows from the same books.
//!
//! Two things are different, because nothing is shared. A listener may have a broadcast before its agent knows when it was
//! sent: what depends on that waits in the book of the worker until the sender's agent has told (`worker::held`). And times
//! of different machines are compared by clocks that are known to some microseconds only.
//!
//! From the outside in: the caller carries batches of orders and reports between [`Agents`] and [`Deputy`], each once and in
//! order. The `hub` turns orders into `letter`s and reports into events, and a `counterpart` knows the state of one agent.

mod counterpart;
mod deputy;
mod floor;
mod hub;
mod job;
mod letter;
mod share;

use std::{
    fmt,
    rc::Rc,
    time::{Duration, Instant},
};

use plimsoll_load::run::ClockOffset;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

pub(crate) use self::{deputy::Deputy, hub::Hub, job::Job};
pub use self::{
    deputy::Post,
    share::{Share, of_clients},
};

/// The time between the order to send a message of a schedule and its send. Reason: more than a message to an agent takes.
pub(crate) const LEAD: Duration = Duration::from_millis(200);

/// A clock that this machine and another one compare.
pub trait Clock: fmt::Debug {
    /// The time of an instant, in nanoseconds.
    fn at(&self, instant: Instant) -> u64;
    /// The instant of a time in nanoseconds.
    fn instant(&self, ns: u64) -> Instant;
}

/// The clocks of the agents, as their coordinator knows them.
pub trait Clocks: Clock {
    /// The clock of an agent. `None`: it was never compared.
    fn offset(&self, agent: usize) -> Option<ClockOffset>;
}

/// The agents of a run, as its coordinator reaches them.
#[derive(Debug)]
pub struct Agents {
    /// Who they are, in their order.
    pub members: Vec<Member>,
    /// The threads of each agent that carry its clients.
    pub n_workers: usize,
    /// The way of orders to each agent. It takes the next ones when the agent has those before.
    pub orders: Vec<mpsc::Sender<Box<RawValue>>>,
    /// What the agents tell, with the number of the agent.
    pub told: mpsc::Receiver<(usize, Said)>,
    /// Their clocks.
    pub clocks: Rc<dyn Clocks>,
    /// Whether the run goes on without an agent that is lost. Only `http` can.
    pub goes_on: bool,
}

/// An agent of a run.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// Processor cores that it may use.
    pub n_cores: usize,
}

/// What comes from an agent.
#[derive(Debug)]
pub enum Said {
    /// Reports.
    Part(Box<RawValue>),
    /// It has closed all its connections.
    Ended,
    /// It is lost, for this reason.
    Lost(String),
}

/// The numbers of workers and agents: workers are numbered in turn over all agents, so that clients, which take turns at the
/// workers, take turns at the agents.
#[derive(Debug, Clone, Copy)]
struct Numbering {
    n_agents: usize,
}

impl Numbering {
    /// The agent of a worker, and the worker's number there.
    fn place(self, worker: usize) -> (usize, usize) {
        (worker % self.n_agents, worker / self.n_agents)
    }

    /// The number of a worker of an agent among all.
    fn worker(self, agent: usize, own: usize) -> usize {
        own * self.n_agents + agent
    }
}
