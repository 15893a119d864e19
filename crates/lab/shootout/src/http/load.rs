//! Who makes the requests of a run: the workers of this process, or agents.

use std::time::{Duration, Instant};

use plimsoll_load::generator::{Evidence, Glance};

use super::{
    board::Reading,
    document::Document,
    options::HttpOptions,
    remote::Hub,
    schedule::{Part, Schedule},
    squad::{Rest, Squad},
    tally::Tally,
    worker::Recent,
};
use crate::{fleet::WorkerLost, remote::Share};

/// The makers of the requests.
#[derive(Debug)]
pub(crate) enum Load {
    /// Workers of this process.
    Here(Squad),
    /// Agents.
    Fleet(Box<Hub>),
}

/// What happens among them.
#[derive(Debug)]
pub(crate) enum News {
    /// Requests that belong to this time since the start of the counted ones.
    Counted(Duration, Box<Tally>),
    /// An agent tells of its generator.
    Glanced(usize, Glance),
    /// An agent is gone: why, and how many lanes are left.
    Lost(String, usize),
}

/// The end of all of them.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) rest: Rest,
    /// The first response; `None` when none was whole.
    pub(crate) document: Option<Document>,
    /// The failure that ended the run, in words.
    pub(crate) trouble: Option<String>,
    /// The evidence about each agent. Empty for this process.
    pub(crate) evidence: Vec<(usize, Evidence)>,
    /// What each agent did. Empty for this process.
    pub(crate) shares: Vec<Share>,
}

impl Load {
    /// Lets all begin. Returns the start of the run.
    ///
    /// # Errors
    /// A worker is gone.
    pub(crate) fn begin(&mut self, options: &HttpOptions) -> Result<Instant, WorkerLost> {
        match self {
            Self::Here(squad) => {
                let started = Instant::now();
                squad.begin(Schedule::new(options.extent, Part::Whole, started))?;
                Ok(started)
            }
            Self::Fleet(hub) => Ok(hub.begin(options.extent.warm_up)),
        }
    }

    /// What happens next; `None` when all have ended. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<News> {
        match self {
            Self::Here(squad) => {
                let Recent { at, tally } = squad.next().await?;
                Some(News::Counted(at, Box::new(tally)))
            }
            Self::Fleet(hub) => hub.next().await,
        }
    }

    /// The counts of this moment; `None` if nothing is known since the last time.
    pub(crate) fn reading(&mut self) -> Option<Reading> {
        match self {
            Self::Here(squad) => Some(squad.reading()),
            Self::Fleet(hub) => hub.reading(),
        }
    }

    /// Starts no further requests. `is_urgent`: those in progress are abandoned.
    pub(crate) fn stop(&mut self, is_urgent: bool) {
        match self {
            Self::Here(squad) => squad.stop(is_urgent),
            Self::Fleet(hub) => hub.stop(is_urgent),
        }
    }

    /// The agents; `None` for this process.
    pub(crate) fn hub(&self) -> Option<&Hub> {
        match self {
            Self::Here(_) => None,
            Self::Fleet(hub) => Some(hub),
        }
    }

    /// Takes the last reports. To be called when all have ended.
    ///
    /// # Errors
    /// A worker has panicked.
    pub(crate) fn disband(self, options: &HttpOptions) -> Result<End, WorkerLost> {
        match self {
            Self::Here(mut squad) => Ok(End {
                rest: squad.disband()?,
                document: squad.document().cloned(),
                trouble: squad.take_trouble(options),
                evidence: Vec::new(),
                shares: Vec::new(),
            }),
            Self::Fleet(hub) => Ok(hub.disband()),
        }
    }
}
