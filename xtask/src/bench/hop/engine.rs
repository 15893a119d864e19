//! The engine of a cluster as its own process.

use std::{
    io::{self, BufRead, BufReader, PipeReader},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
    time::Duration,
};

use super::{
    super::{Error, process::Process},
    bare::Dialect,
};

/// A running engine, which ends when it is dropped. It keeps nothing on disk but what JetStream must.
pub(super) struct Engine {
    process: Process,
    dialect: Dialect,
    /// JetStream's files.
    folder: PathBuf,
    /// What it says. It says little, which fits into the pipe.
    log: BufReader<PipeReader>,
}

impl Engine {
    pub(super) fn start(dialect: Dialect) -> Result<Self, Error> {
        let address = free_address().map_err(Error::Limit)?;
        let port = address.port().to_string();
        let folder = std::env::temp_dir().join(format!("plimsoll-hop-{port}"));
        let mut command;
        match dialect {
            Dialect::Redis => {
                command = Command::new("redis-server");
                command.args(["--bind", "127.0.0.1", "--port", &port, "--save", ""]);
            }
            Dialect::Nats => {
                command = Command::new("nats-server");
                command.args(["--addr", "127.0.0.1", "--port", &port, "--jetstream"]);
                command.arg("--store_dir").arg(&folder);
            }
        }
        let (log, writer) = io::pipe().map_err(Error::Limit)?;
        command
            .stdout(writer.try_clone().map_err(Error::Limit)?)
            .stderr(writer);
        let mut engine = Self {
            process: Process::start_at(command, address)?,
            dialect,
            folder,
            log: BufReader::new(log),
        };
        engine.wait()?;
        Ok(engine)
    }

    /// Waits until it listens.
    fn wait(&mut self) -> Result<(), Error> {
        let ready = match self.dialect {
            Dialect::Redis => "Ready to accept connections",
            Dialect::Nats => "Server is ready",
        };
        let mut said = String::new();
        while !said.contains(ready) {
            match self.log.read_line(&mut said) {
                Ok(1..) => {}
                Ok(0) => return Err(Error::Announcement(said)),
                Err(error) => return Err(Error::Limit(error)),
            }
        }
        Ok(())
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.process.address()
    }

    /// The flag with which a server is told the URL.
    pub(super) fn flag(&self) -> &'static str {
        match self.dialect {
            Dialect::Redis => "--redis_url",
            Dialect::Nats => "--nats_servers",
        }
    }

    pub(super) fn url(&self) -> String {
        let scheme = match self.dialect {
            Dialect::Redis => "redis",
            Dialect::Nats => "nats",
        };
        format!("{scheme}://{}", self.address())
    }

    /// CPU time of all its threads since it started.
    pub(super) fn cpu(&self) -> Result<Duration, Error> {
        self.process.cpu()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Redis has none.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// An address at which nothing listens.
fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}
