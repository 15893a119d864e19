//! The meaning of the flags of all workloads.

use std::fmt::Display;

use clap::Args;
use plimsoll_load::watch::Target;
use plimsoll_shootout::{Bench, ServerType};

use super::args::ClientArgs;
use crate::{
    exit::Failure,
    fleet::{FleetFlags, Wanted},
    session::Format,
    surroundings::Surroundings,
};

/// Flags that say where the clients of a workload are.
pub(crate) trait Places: Args {
    /// The fleet. `None`: in this process.
    ///
    /// # Errors
    /// A fleet that cannot be used.
    fn wanted(&self, surroundings: &Surroundings<'_>) -> Result<Option<Wanted>, Failure>;
}

/// No flags: the clients are in this process.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Here {}

impl Places for Here {
    fn wanted(&self, _: &Surroundings<'_>) -> Result<Option<Wanted>, Failure> {
        Ok(None)
    }
}

impl Places for FleetFlags {
    fn wanted(&self, surroundings: &Surroundings<'_>) -> Result<Option<Wanted>, Failure> {
        Self::wanted(self, surroundings)
    }
}

/// The flags of one workload.
pub(crate) trait Typed: Args {
    /// A mistake in them.
    type Mistake: Display;

    /// The flags that say where the clients are.
    type Fleet: Places;

    /// The short name of `--format`.
    const SHORT_OF_FORMAT: Option<char> = Some('f');

    /// The URL of the server.
    fn url(&self) -> &str;

    /// Replaces the URL of the server.
    fn set_url(&mut self, url: String);

    /// The flags of WebSocket clients, whose `--server-type` may be left out; `None` without such clients.
    fn clients(&mut self) -> Option<&mut ClientArgs> {
        None
    }

    /// The server type for servers of Action Cable.
    fn type_for_cable(&self) -> ServerType {
        ServerType::ActionCable
    }

    /// The form of the result, if the workload's own flags name it.
    fn format(&self) -> Option<Format> {
        None
    }

    /// The number of threads that they ask for; `None` if they do not.
    fn n_workers(&self) -> Option<usize> {
        None
    }

    /// Checks that agents can have the clients.
    ///
    /// # Errors
    /// A flag is about this machine only.
    fn check_fleet(&self) -> Result<(), Self::Mistake> {
        Ok(())
    }

    /// The bench that they ask for, with the form of its result and the targets that are watched.
    fn bench(self, format: Format, watched: &[Target]) -> Result<Bench, Self::Mistake>;
}
