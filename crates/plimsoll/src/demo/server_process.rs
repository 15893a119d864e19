//! The demo's server: this program as a separate process, so that its CPU and memory can be measured separately.

use std::{
    io::{self, BufRead, BufReader},
    net::SocketAddr,
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, Command, Stdio},
};

use serde::Deserialize;

use crate::serve::settings::is_setting;

/// A running `plimsoll serve`. It stops when this value is dropped, or when this process dies, because it
/// watches the other end of its standard input; unless it was told to stay.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
    address: SocketAddr,
    /// The standard input of the server. Dropping it ends a server that does not stay.
    _stdin: Option<ChildStdin>,
    stays: bool,
}

/// Why the demo has no server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The system did not start it.
    #[error("cannot start the server process: {0}")]
    Spawn(#[from] io::Error),
    /// The server ended or wrote something else before it listened. Its own error is above.
    #[error("the server did not come up; it said {line:?} instead of its address")]
    NoAddress {
        /// The server's first line.
        line: String,
    },
}

#[derive(Deserialize)]
struct Announcement {
    address: SocketAddr,
}

impl ServerProcess {
    /// Starts the chat application on a free port and waits until it listens. `stays`: it outlives this
    /// process.
    pub(super) fn start(stays: bool) -> Result<Self, StartError> {
        let mut command = Command::new(std::env::current_exe()?);
        // The broadcast key keeps broadcasts on the server's own, free port. This key is never used.
        let key = format!("{:032x}", fastrand::u128(..));
        // The settings of a server that this machine happens to have are not the demo's.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_setting) {
                command.env_remove(name);
            }
        }
        command.args([
            "serve",
            "--ignore-config-path",
            "--host=127.0.0.1",
            "--port=0",
            "--app=chat",
            "--demo-page",
            // What its page shows.
            "--metrics-http=/metrics",
            "--announce",
            "--log-level=warn",
        ]);
        command
            .arg(format!("--broadcast-key={key}"))
            .stdout(Stdio::piped());
        // Ctrl-C is for the demo: it still wants to say goodbye to a living server.
        command.process_group(0);
        if stays {
            command.stdin(Stdio::null())
        } else {
            command.arg("--exit-with-stdin").stdin(Stdio::piped())
        };
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        match serde_json::from_str::<Announcement>(&line) {
            Ok(Announcement { address }) => Ok(Self {
                child,
                address,
                _stdin: stdin,
                stays,
            }),
            Err(_) => {
                let _it_may_have_ended = child.kill();
                child.wait()?;
                Err(StartError::NoAddress {
                    line: line.trim_end().to_owned(),
                })
            }
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        drop(self._stdin.take());
        // It says goodbye to its clients and ends within three seconds.
        let _it_may_have_ended = self.child.wait();
    }
}
