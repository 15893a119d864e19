//! A program that runs for as long as a round needs it, and says on stdout where it listens.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use nix::{time::clock_getcpuclockid, unistd::Pid};
use serde_json::Value;

use super::Error;
use crate::command;

/// A running program. Dropping it kills the process and waits for it, so that no round leaves one behind.
pub(super) struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    /// Starts a program that ends with its standard input, and waits for its announcement.
    pub(super) fn start(mut program: Command) -> Result<Self, Error> {
        // The pipe ends with this process, however that ends, and the program with the pipe.
        program.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = program.spawn().map_err(|source| Error::Start {
            program: command::line(&program),
            source,
        })?;
        // From here on the process is owned, and killed should the announcement be wrong.
        let mut process = Self {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        process.address = process.announced_address()?;
        Ok(process)
    }

    /// Starts a program that will listen at this address.
    pub(super) fn start_at(mut program: Command, address: SocketAddr) -> Result<Self, Error> {
        let child = program
            .stdin(Stdio::null())
            .spawn()
            .map_err(|source| Error::Start {
                program: command::line(&program),
                source,
            })?;
        Ok(Self { child, address })
    }

    fn announced_address(&mut self) -> Result<SocketAddr, Error> {
        let stdout = self.child.stdout.as_mut().expect("stdout was piped above");
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .map_err(|error| Error::Announcement(error.to_string()))?;
        announced(&line).ok_or_else(|| Error::Announcement(format!("it announced `{}`", line.trim())))
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// CPU time of all its threads since it started.
    pub(super) fn cpu(&self) -> Result<Duration, Error> {
        let pid = Pid::from_raw(self.pid().cast_signed());
        let time = clock_getcpuclockid(pid).and_then(nix::time::ClockId::now);
        time.map(Duration::from).map_err(|errno| Error::Proc {
            path: format!("the CPU clock of process {pid}"),
            source: errno.into(),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both can only fail when the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address in `{"event":"listening","address":"127.0.0.1:41233",…}`.
fn announced(line: &str) -> Option<SocketAddr> {
    let announcement: Value = serde_json::from_str(line).ok()?;
    announcement.get("address")?.as_str()?.parse().ok()
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
}
