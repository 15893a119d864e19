//! The receiver of a run's progress and results.

use std::{fmt, sync::Arc, time::Duration};

use plimsoll_load::{generator::Evidence, histogram::Histogram, metrics::SampleSender, watch::Sampling};

use crate::{
    onlooker::Onlooker,
    outcome::{Setting, Step},
};

/// Receives results and talk. All methods are called on the coordinator's thread and should return soon: the
/// closed loop waits.
pub trait Sink {
    /// Shows the progress. It is called often.
    fn progress(&mut self, progress: Progress);
    /// A step of a run with this setting is over.
    fn step(&mut self, step: &Step, setting: &Setting);
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
    /// The times from each broadcast to its arrival at the last listener. A broadcast that did not reach all listeners
    /// counts with the time that was waited for it.
    pub deliveries: Vec<Duration>,
    /// The times from each broadcast to each listener. A missing delivery counts with the time that was waited for it.
    pub listeners: Histogram,
    /// The times from each TCP connect until the client was ready.
    pub connects: Vec<Duration>,
    /// The evidence about the generator during the messages, or without messages during the connects.
    pub generator: Evidence,
    /// The same about each agent, by its name. Empty: this process made the load.
    pub agents: Vec<(Arc<str>, Evidence)>,
    /// Why the times of deliveries say nothing. `None`: they are known well enough.
    pub doubt: Option<String>,
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
        /// Broadcasts that have not arrived everywhere.
        n_in_flight: usize,
        /// The time since the last answer or delivery that is known.
        silence: Duration,
    },
    /// Messages are being sent by a schedule.
    Scheduled {
        /// The number of sent messages.
        n_sent: usize,
        /// The number of this step.
        n_total: usize,
        /// Connected in all.
        n_connected: usize,
        /// Broadcasts that have not arrived everywhere.
        n_in_flight: usize,
    },
    /// All messages are sent; what is missing is awaited.
    Waiting {
        /// Deliveries that have not arrived.
        n_missing: u64,
        /// Deliveries that are expected.
        n_expected: u64,
        /// Messages whose answers have not arrived.
        n_unanswered: usize,
        /// The time since the last answer or delivery.
        silence: Duration,
    },
}

/// A silence that is worth mentioning.
const LONG: Duration = Duration::from_secs(2);

impl Progress {
    /// Whether the run waits for something that has not come for a while, so that people want to know.
    pub(crate) fn is_waiting(&self) -> bool {
        match self {
            Self::Connecting { .. } | Self::Scheduled { .. } => false,
            Self::Sampling { silence, .. } => *silence >= LONG,
            Self::Waiting { .. } => true,
        }
    }

    /// The phase that begins, for outputs without a terminal.
    pub(crate) fn announcement(&self) -> String {
        match self {
            Self::Connecting { n_total, .. } => format!("connecting {n_total} clients"),
            Self::Sampling {
                n_total, n_connected, ..
            } => format!("sending {n_total} messages, {n_connected} clients"),
            Self::Scheduled {
                n_total, n_connected, ..
            } => format!("sending {n_total} messages by schedule, {n_connected} clients"),
            Self::Waiting { .. } => self.to_string(),
        }
    }
}

/// The progress, for terminals.
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
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
                n_in_flight,
                silence,
            } => {
                write!(
                    f,
                    "sending: {n_done} of {n_total} answered; {n_connected} clients"
                )?;
                if n_in_flight > 0 {
                    write!(f, "; {n_in_flight} in flight")?;
                }
                silent(f, silence)
            }
            Self::Scheduled {
                n_sent,
                n_total,
                n_connected,
                n_in_flight,
            } => write!(
                f,
                "sending: {n_sent} of {n_total} by schedule; {n_connected} clients; {n_in_flight} in flight"
            ),
            Self::Waiting {
                n_missing,
                n_expected,
                n_unanswered,
                silence,
            } => {
                write!(f, "waiting: {n_missing} of {n_expected} deliveries are missing")?;
                if n_unanswered > 0 {
                    let plural = if n_unanswered == 1 { "" } else { "s" };
                    write!(f, ", and {n_unanswered} acknowledgement{plural}")?;
                }
                silent(f, silence)
            }
        }
    }
}

/// Says for how long nothing has arrived, if that is long.
fn silent(f: &mut fmt::Formatter<'_>, silence: Duration) -> fmt::Result {
    match silence.as_secs() {
        seconds if silence >= LONG => write!(f, "; nothing has arrived for {seconds} s"),
        _ => Ok(()),
    }
}
