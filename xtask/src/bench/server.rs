//! `plimsoll serve` as its own process, for as long as a round needs it.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use super::Error;

/// A running server. Dropping it kills the process and waits for it, so that no round leaves one behind.
pub(super) struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts the benchmark application on a free port and waits for its announcement.
    pub(super) fn start(binary: &Path) -> Result<Self, Error> {
        let mut command = Command::new(binary);
        command.args([
            "serve",
            "--app",
            "benchmark",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
        ]);
        command.args(["--http_broadcast_port", "0", "--log_level", "warn", "--announce"]);
        // The pipe ends with this process, however that ends, and the server with the pipe.
        command.arg("--exit_with_stdin").stdin(Stdio::piped());
        command.stdout(Stdio::piped());
        let process = command.spawn().map_err(|source| Error::Start {
            program: binary.display().to_string(),
            source,
        })?;
        // From here on the process is owned, and killed should the announcement be wrong.
        let mut server = Self {
            process,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        server.address = server.announced_address()?;
        Ok(server)
    }

    fn announced_address(&mut self) -> Result<SocketAddr, Error> {
        let stdout = self.process.stdout.as_mut().expect("stdout was piped above");
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .map_err(|error| Error::Server(error.to_string()))?;
        announced(&line).ok_or_else(|| Error::Server(format!("it announced `{}`", line.trim())))
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of its cable endpoint.
    pub(super) fn cable_url(&self) -> String {
        format!("ws://{}/cable", self.address)
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
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

impl Drop for Server {
    fn drop(&mut self) {
        // Both can only fail when the process is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The address in `{"event":"listening","address":"127.0.0.1:41233",…}`.
fn announced(line: &str) -> Option<SocketAddr> {
    let announcement: Value = serde_json::from_str(line).ok()?;
    announcement.get("address")?.as_str()?.parse().ok()
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
    fn announcements() {
        let line = r#"{"event":"listening","address":"127.0.0.1:41233","pid":123}"#;
        assert_eq!(announced(line), Some(SocketAddr::from(([127, 0, 0, 1], 41233))));
        assert_eq!(announced(""), None);
        assert_eq!(announced(r#"{"event":"listening"}"#), None);
    }

    #[test]
    fn resident_memory() {
        assert_eq!(resident("VmHWM:\t 30 kB\nVmRSS:\t   20 kB\n"), Some(20 * 1024));
        assert_eq!(resident("VmHWM:\t 30 kB\n"), None);
    }
}
