//! The engine of a cluster as its own process.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use super::{
    super::{Error, process::Process},
    bare::Dialect,
};

/// How long an engine may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running engine, which ends when it is dropped. It keeps nothing on disk but what JetStream must.
pub(super) struct Engine {
    process: Process,
    dialect: Dialect,
    /// JetStream's files.
    folder: PathBuf,
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
                command.args([
                    "--bind",
                    "127.0.0.1",
                    "--port",
                    &port,
                    "--save",
                    "",
                    "--logfile",
                    "/dev/null",
                ]);
            }
            Dialect::Nats => {
                command = Command::new("nats-server");
                command.args([
                    "--addr",
                    "127.0.0.1",
                    "--port",
                    &port,
                    "--log",
                    "/dev/null",
                    "--jetstream",
                ]);
                command.arg("--store_dir").arg(&folder);
            }
        }
        let process = Process::start_at(command, address)?;
        let begin = Instant::now();
        while let Err(error) = TcpStream::connect(address) {
            if begin.elapsed() > PATIENCE {
                return Err(Error::Limit(error));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Self {
            process,
            dialect,
            folder,
        })
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
