//! Requests of many tasks over one connection, in the order in which they are made.

use std::{pin::pin, sync::Arc, time::Duration};

use plimsoll_telemetry::Dependency;
use redis::{Cmd, cmd};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use crate::{
    connection::{Connection, ConnectionError, PATIENCE, Reader, Writer},
    resp::Reply,
    server::Server,
    supervisor::{self, Link, Session, Stop, stopped},
};

/// The most requests that wait for the connection. Overflow rule: the next one waits for its turn, as long as its caller
/// has time.
const CAPACITY: usize = 1024;

/// The most requests without an answer.
const MAX_IN_FLIGHT: usize = 4096;

/// The most requests that are sent at once.
const BATCH: usize = 256;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Redis did not answer in time. The request may have taken effect, or may still do so.
    #[error("Redis did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// The connection was lost before the answer. The request may have taken effect.
    #[error("the connection to Redis was lost")]
    Lost,
    /// Redis answered with an error.
    #[error("Redis refused the command: {0}")]
    Refused(String),
}

/// A Lua script.
#[derive(Debug)]
pub(crate) struct Script {
    /// The place in the list of the connection's scripts.
    number: usize,
    source: &'static str,
}

impl Script {
    pub(crate) const fn new(number: usize, source: &'static str) -> Self {
        Self { number, source }
    }
}

/// A request.
#[derive(Debug)]
pub(crate) enum Request {
    /// A command.
    Command(Cmd),
    /// A script, its keys and its arguments.
    Script {
        script: &'static Script,
        keys: Vec<Vec<u8>>,
        arguments: Vec<Vec<u8>>,
    },
}

impl Request {
    /// Adds the bytes of the request. `hashes` has those of the scripts.
    fn pack(&self, hashes: &[Vec<u8>], bytes: &mut Vec<u8>) {
        match self {
            Self::Command(command) => bytes.extend(command.get_packed_command()),
            Self::Script {
                script,
                keys,
                arguments,
            } => {
                let mut command = cmd("EVALSHA");
                command.arg(&hashes[script.number]).arg(keys.len());
                command.arg(keys).arg(arguments);
                bytes.extend(command.get_packed_command());
            }
        }
    }
}

type Answer = oneshot::Sender<Result<Reply, RequestError>>;

/// The callers' end of the connection. A clone is the same connection.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline(mpsc::Sender<(Request, Answer)>);

/// The connection's end.
pub(crate) struct Requests {
    server: Arc<Server>,
    scripts: &'static [&'static Script],
    waiting: mpsc::Receiver<(Request, Answer)>,
}

impl Pipeline {
    /// A pipeline, and the work on its connection.
    pub(crate) fn new(server: Arc<Server>, scripts: &'static [&'static Script]) -> (Self, Requests) {
        let (sender, waiting) = mpsc::channel(CAPACITY);
        let requests = Requests {
            server,
            scripts,
            waiting,
        };
        (Self(sender), requests)
    }

    /// Makes a request and waits for its answer. A request whose caller has given up is not sent.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub(crate) async fn request(&self, request: Request, patience: Duration) -> Result<Reply, RequestError> {
        let answered = async {
            let (answer, answered) = oneshot::channel();
            let sent = self.0.send((request, answer)).await;
            sent.map_err(|_| RequestError::Lost)?;
            answered.await.unwrap_or(Err(RequestError::Lost))
        };
        timeout(patience, answered)
            .await
            .unwrap_or(Err(RequestError::Late(patience)))
    }
}

impl Requests {
    /// Stays connected until `stop` becomes true.
    pub(crate) async fn run(self, status: Dependency, stop: watch::Receiver<bool>) {
        let link = Link::with_words(
            "Connected to the Redis broker",
            "The Redis broker is away",
            status,
        );
        supervisor::keep(link, self, stop).await;
    }
}

impl Session for Requests {
    type Error = ConnectionError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let opened = async {
            let mut connection = Connection::open(&self.server).await?;
            let mut hashes = Vec::new();
            for script in self.scripts {
                let load = cmd("SCRIPT").arg("LOAD").arg(script.source).to_owned();
                hashes.push(match connection.request(&load, PATIENCE).await? {
                    Reply::Text(hash) => hash,
                    other => {
                        return Err(ConnectionError::Refused(format!(
                            "{other:?} is no hash of a script"
                        )));
                    }
                });
            }
            Ok((connection, hashes))
        };
        let (connection, hashes) = tokio::select! {
            opened = opened => opened?,
            () = stopped(stop) => return Ok(()),
        };
        link.is_up();
        let Connection { reader, writer } = connection;
        let (in_flight, answers) = mpsc::channel(MAX_IN_FLIGHT);
        let mut writing = pin!(write(&mut self.waiting, writer, &hashes, in_flight));
        let mut reading = pin!(read(reader, answers));
        tokio::select! {
            failed = &mut writing => failed,
            failed = &mut reading => failed,
            () = stopped(stop) => Ok(()),
        }
    }
}

/// Sends requests. Those that wait are sent together.
async fn write(
    waiting: &mut mpsc::Receiver<(Request, Answer)>,
    mut writer: Writer,
    hashes: &[Vec<u8>],
    in_flight: mpsc::Sender<Answer>,
) -> Result<(), ConnectionError> {
    let mut batch = Vec::new();
    let mut bytes = Vec::new();
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        for (request, answer) in batch.drain(..) {
            if answer.is_closed() {
                continue;
            }
            request.pack(hashes, &mut bytes);
            if in_flight.send(answer).await.is_err() {
                return Ok(());
            }
        }
        writer.send(&bytes).await?;
        bytes = Vec::new();
    }
    Ok(())
}

/// Hands out the answers.
async fn read(mut reader: Reader, mut in_flight: mpsc::Receiver<Answer>) -> Result<(), ConnectionError> {
    while let Some(answer) = in_flight.recv().await {
        let received = timeout(PATIENCE, reader.receive()).await;
        let result = match received.unwrap_or(Err(ConnectionError::Silent(PATIENCE))) {
            Ok(reply) => Ok(reply),
            Err(ConnectionError::Refused(error)) => Err(RequestError::Refused(error)),
            Err(error) => return Err(error),
        };
        let lost = match &result {
            // The server has lost its scripts, or is no longer the one that takes writes: a new connection helps.
            Err(RequestError::Refused(error)) if needs_another_connection(error) => Some(error.clone()),
            _ => None,
        };
        // The caller may have given up.
        let _sent = answer.send(result);
        if let Some(error) = lost {
            return Err(ConnectionError::Refused(error));
        }
    }
    Ok(())
}

fn needs_another_connection(error: &str) -> bool {
    ["NOSCRIPT", "READONLY", "MASTERDOWN", "NOAUTH"]
        .iter()
        .any(|code| error.starts_with(code))
}
