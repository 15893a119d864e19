//! The application of this benchmark as its own process.

use std::{net::SocketAddr, path::Path, process::Command, time::Duration};

use crate::bench::{Error, process::Process};

/// A running `plimsoll-rpc-app`, which ends when it is dropped.
pub(in crate::bench) struct Application {
    process: Process,
}

impl Application {
    pub(in crate::bench) fn start(program: &Path) -> Result<Self, Error> {
        let process = Process::start(Command::new(program))?;
        Ok(Self { process })
    }

    /// Where its gRPC service listens.
    pub(in crate::bench) fn address(&self) -> SocketAddr {
        self.process.address()
    }

    /// CPU time since it started.
    pub(in crate::bench) fn cpu(&self) -> Result<Duration, Error> {
        self.process.cpu()
    }
}
