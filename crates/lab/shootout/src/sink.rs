//! The receiver of a run's progress and results.

use std::{fmt, sync::Arc, time::Duration};

use plimsoll_load::{generator::Evidence, metrics::SampleSender, watch::Sampling};

use crate::{onlooker::Onlooker, outcome::Step};

/// Receives results and talk. All methods are called on the coordinator's thread and should return soon: the
/// closed loop waits.
pub trait Sink {
    /// Shows the progress. It is called often.
    fn progress(&mut self, progress: Progress);
    /// A step is over.
    fn step(&mut self, step: &Step);
    /// Each sample of a step, before [`Self::step`]; most need only its figures.
    fn measured(&mut self, _: Readings) {}
    /// The viewer of the run; `None` without a view.
    fn onlooker(&self) -> Option<&dyn Onlooker> {
        None
    }
    /// The receiver of single samples; `None` in most runs.
    fn samples(&self) -> Vec<SampleSender> {
        Vec::new()
    }
    /// The readings of the watched targets; `None` without targets.
    fn sampling(&self) -> Option<Arc<Sampling>> {
        None
    }
    /// Prints a remark.
    fn note(&mut self, text: &str);
}

/// The samples of a step.
#[derive(Debug, Clone)]
pub struct Readings {
    /// The times from each send to the sender's answer.
    pub answers: Vec<Duration>,
    /// The times from each broadcast to its arrival at the last listener, for broadcasts that reached all listeners.
    pub deliveries: Vec<Duration>,
    /// The times from each TCP connect until the client was ready.
    pub connects: Vec<Duration>,
    /// The evidence about the generator during the messages, or without messages during the connects.
    pub generator: Evidence,
}

/// The progress of a run.
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
        /// The number of this step.
        n_total: usize,
        /// Connected in all.
        n_connected: usize,
    },
    /// All answers have arrived; the last deliveries are awaited.
    Waiting {
        /// Broadcasts that have not arrived everywhere.
        n_missing: usize,
    },
}

impl Progress {
    /// The phase that begins, for outputs without a terminal.
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

/// The progress, for terminals.
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
