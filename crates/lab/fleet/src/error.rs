//! Why a run of a fleet cannot be made.

use std::{fmt::Display, time::Duration};

/// Why a run of a fleet cannot be made, or an agent cannot take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// No connection to NATS.
    #[error("cannot connect to NATS at {address}: {reason}")]
    Connect {
        /// The servers.
        address: String,
        /// Why not.
        reason: String,
    },
    /// NATS takes only short messages.
    #[error(
        "NATS at {address} accepts messages of {max_payload} bytes at most (max_payload), and a fleet needs {least}; \
         raise it in the configuration of nats-server"
    )]
    SmallPayload {
        /// The servers.
        address: String,
        /// The server's limit, in bytes.
        max_payload: usize,
        /// What is needed, in bytes.
        least: usize,
    },
    /// The address can be reached from other machines, and nothing keeps strangers out.
    #[error("{0}")]
    Unguarded(String),
    /// Too few agents.
    #[error("{0}")]
    TooFew(String),
    /// An agent does not do what it was asked.
    #[error("agent {agent}: {reason}")]
    Agent {
        /// Its name.
        agent: String,
        /// Why not.
        reason: String,
    },
    /// A request was not answered in time.
    #[error("no answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// The connection cannot be used.
    #[error("{0}")]
    Link(String),
}

impl FleetError {
    /// The error of an agent with this name.
    pub(crate) fn of(agent: &str, reason: impl Display) -> Self {
        Self::Agent {
            agent: agent.to_owned(),
            reason: reason.to_string(),
        }
    }
}
