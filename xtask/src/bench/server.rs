//! `plimsoll serve` as its own process, for as long as a round needs it.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use super::{Error, process::Process};

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
        format!("ws://{}/cable", self.address())
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Resident memory now.
    pub(super) fn rss_bytes(&self) -> Result<u64, Error> {
        let path = format!("/proc/{}/status", self.pid());
        let status = fs::read_to_string(&path).map_err(|source| Error::Proc {
            path: path.clone(),
            source,
        })?;
        resident(&status).ok_or_else(|| Error::Proc {
            path,
            source: std::io::ErrorKind::InvalidData.into(),
        })
    }
}

/// `VmRSS` of a process status, in bytes.
fn resident(status: &str) -> Option<u64> {
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?
        .trim()
        .strip_suffix(" kB")?;
    Some(kilobytes.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory() {
        assert_eq!(resident("VmHWM:\t 30 kB\nVmRSS:\t   20 kB\n"), Some(20 * 1024));
        assert_eq!(resident("VmHWM:\t 30 kB\n"), None);
    }
}
