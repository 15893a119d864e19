//! Who wants to hear about a run while it goes on.

use std::{fmt, sync::Arc, time::Duration};

use plimsoll_load::{generator::Evidence, metrics::SampleSender, watch::Sampling};

use crate::{onlooker::Onlooker, outcome::Step};

/// Receives results and talk. All methods are called on the coordinator's thread and should return soon: the
/// closed loop waits.
pub trait Sink {
    /// Where the run stands; called often.
    fn progress(&mut self, progress: Progress);
    /// A step is over.
    fn step(&mut self, step: &Step);
    /// Each sample of a step, before [`Self::step`]; most need only its figures.
    fn measured(&mut self, _: Readings) {}
    /// Who looks at the run while it goes on, beside whoever reads this.
    fn onlooker(&self) -> Option<&dyn Onlooker> {
        None
    }
    /// Who takes samples one by one; most often nobody.
    fn samples(&self) -> Vec<SampleSender> {
        Vec::new()
    }
    /// Who looks at the watched targets, if there are any.
    fn sampling(&self) -> Option<Arc<Sampling>> {
        None
    }
    /// Something worth knowing.
    fn note(&mut self, text: &str);
}

/// The samples of a step.
#[derive(Debug, Clone)]
pub struct Readings {
    /// From each send to the sender's answer.
    pub answers: Vec<Duration>,
    /// From each broadcast to its arrival at the last listener, for those that reached all.
    pub deliveries: Vec<Duration>,
    /// From before each TCP connect until the client was ready.
    pub connects: Vec<Duration>,
    /// How the generator did while the messages went, or, without any, the connects.
    pub generator: Evidence,
}

/// Where the run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Clients are getting ready.
    Connecting {
        /// Ready or failed, in this step.
        n_done: usize,
        /// Asked for in this step.
        n_total: usize,
        /// Connected in all.
        n_connected: usize,
    },
    /// Messages are being sent.
    Sampling {
        /// Answered or given up.
        n_done: usize,
        /// Of this step.
        n_total: usize,
        /// Connected in all.
        n_connected: usize,
    },
    /// All answers are there; the last deliveries are awaited.
    Waiting {
        /// Broadcasts that have not arrived everywhere.
        n_missing: usize,
    },
}

impl Progress {
    /// What is beginning, for those who do not watch it go on.
    pub(crate) fn announcement(&self) -> String {
        match self {
            Self::Connecting { n_total, .. } => format!("connecting {n_total} clients"),
            Self::Sampling {
                n_total, n_connected, ..
            } => format!("sending {n_total} messages, {n_connected} clients"),
            Self::Waiting { .. } => "waiting for deliveries that are missing".to_owned(),
        }
    }
}

/// Where it stands now, for those who do.
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting {
                n_done,
                n_total,
                n_connected,
            } => {
                write!(f, "connecting: {n_done} of {n_total}; {n_connected} clients")
            }
            Self::Sampling {
                n_done,
                n_total,
                n_connected,
            } => {
                write!(
                    f,
                    "sending: {n_done} of {n_total} answered; {n_connected} clients"
                )
            }
            Self::Waiting { n_missing } => write!(
                f,
                "waiting: broadcasts that have not arrived everywhere: {n_missing}"
            ),
        }
    }
}
