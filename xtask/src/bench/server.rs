//! `plimsoll serve` as its own process, for as long as a round needs it.

use std::{net::SocketAddr, path::Path, process::Command, time::Duration};

use super::{Error, memory, process::Process};

/// A running server, which ends when it is dropped.
pub(super) struct Server {
    process: Process,
}

impl Server {
    /// Starts the benchmark application on a free port and waits for its announcement.
    pub(super) fn start(binary: &Path) -> Result<Self, Error> {
        Self::start_with(binary, &["--app", "benchmark"])
    }

    /// The same with these flags, which say what the application is.
    pub(super) fn start_with(binary: &Path, application: &[&str]) -> Result<Self, Error> {
        let mut command = Command::new(binary);
        command.args(["serve", "--host", "127.0.0.1", "--port", "0"]);
        command.args(["--http_broadcast_port", "0", "--log_level", "warn"]);
        command.args(["--announce", "--exit_with_stdin"]);
        command.args(application);
        let process = Process::start(command)?;
        Ok(Self { process })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.process.address()
    }

    /// The URL of its cable endpoint.
    pub(super) fn cable_url(&self) -> String {
        self.url("ws", "/cable")
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// CPU time of all its threads since it started.
    pub(super) fn cpu(&self) -> Result<Duration, Error> {
        self.process.cpu()
    }

    /// Resident memory now.
    pub(super) fn rss_bytes(&self) -> Result<u64, Error> {
        memory::rss_bytes(self.pid())
    }

    /// The URL of another endpoint: `ws` and `/echo`, for example.
    pub(super) fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{}{path}", self.address())
    }
}
