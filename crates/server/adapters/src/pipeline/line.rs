//! Requests of many tasks over one connection, in the order in which they are made.

use std::{pin::pin, sync::Arc, time::Duration};

use redis::{Cmd, cmd};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use super::foreign::ForeignKeys;
use crate::{
    connection::{Connection, ConnectionError, PATIENCE, Reader, hint},
    resp::Reply,
    server::Server,
    supervisor::{self, Link, Session, Stop, stopped},
};

/// The most requests without an answer.
const MAX_IN_FLIGHT: usize = 4096;

mod sending;

use sending::{Outgoing, Sending};

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
    #[error("Redis refused the command: {0}{advice}", advice = hint(.0))]
    Refused(String),
    /// A key has something else than Plimsoll writes there.
    #[error(transparent)]
    Foreign(#[from] ForeignKeys),
    /// Redis has carried out the request, and too few replicas have confirmed it in time.
    #[error("{0}")]
    Unreplicated(String),
}

/// Why a line has no answer.
#[derive(Debug)]
pub(super) enum LineError {
    /// The line ended before the request was sent.
    Unsent,
    /// See [`RequestError`].
    Failed(RequestError),
}

/// A Lua script.
#[derive(Debug)]
pub(crate) struct Script {
    /// The place in the list of the connection's scripts.
    number: usize,
    source: &'static str,
    /// The types of its keys, in their order.
    pub(super) types: &'static [&'static str],
}

impl Script {
    pub(crate) const fn new(number: usize, source: &'static str, types: &'static [&'static str]) -> Self {
        Self {
            number,
            source,
            types,
        }
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
    /// The key, or the channel, that says which node of a cluster takes the request: the first argument of a command,
    /// the first key of a script.
    pub(super) fn key(&self) -> &[u8] {
        match self {
            Self::Script { keys, .. } => keys.first().map_or(&[], Vec::as_slice),
            Self::Command(command) => match command.args_iter().nth(1) {
                Some(redis::Arg::Simple(key)) => key,
                _ => &[],
            },
        }
    }

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

/// How a request is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Manner {
    /// Whether the node takes it although it does not have the slot yet (`ASKING`).
    pub(super) is_asking: bool,
    /// Whether replicas must confirm it, if the line has such a rule.
    pub(super) is_replicated: bool,
}

/// What the connections of a pipeline have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineSettings {
    pub(super) scripts: &'static [&'static Script],
    pub(super) replication: Option<Replication>,
    /// Whether the server is a node of a cluster.
    pub(super) is_node: bool,
}

/// How many replicas must confirm a request, and in which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replication {
    pub(crate) n_replicas: u32,
    pub(crate) patience: Duration,
}

type Answer = oneshot::Sender<Result<Reply, LineError>>;

/// A reply that the server owes.
enum Due {
    Request(Answer, Manner),
    /// To `ASKING`.
    Asking,
    /// To `WAIT`. When it is there, further requests may be sent.
    Replication(oneshot::Sender<()>),
}

/// The callers' end of the connection. A clone is the same connection.
#[derive(Debug, Clone)]
pub(super) struct Line(Arc<Sending>);

/// The connection's end.
#[derive(Debug)]
pub(crate) struct Requests {
    server: Arc<Server>,
    settings: LineSettings,
    sending: Arc<Sending>,
}

impl Line {
    /// A line, and the work on its connection.
    pub(super) fn new(server: Arc<Server>, settings: LineSettings) -> (Self, Requests) {
        let sending = Arc::new(Sending::new());
        let requests = Requests {
            server,
            settings,
            sending: Arc::clone(&sending),
        };
        (Self(sending), requests)
    }

    /// Makes a request and waits for its answer, however long. A request whose caller has given up is not sent.
    pub(super) async fn request(&self, request: Arc<Request>, manner: Manner) -> Result<Reply, LineError> {
        let (answer, answered) = oneshot::channel();
        self.0.send(request, manner, answer).await?;
        answered
            .await
            .unwrap_or(Err(LineError::Failed(RequestError::Lost)))
    }
}

impl Requests {
    /// Stays connected until `stop` becomes true. `link` reports it.
    pub(crate) async fn run(self, link: Link, stop: watch::Receiver<bool>) {
        supervisor::keep(link, self, stop).await;
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        self.sending.close();
    }
}

impl Session for Requests {
    type Error = ConnectionError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let LineSettings {
            scripts,
            replication,
            is_node,
        } = self.settings;
        let opened = async {
            let mut connection = Connection::open(&self.server).await?;
            if !is_node {
                connection.check_role(&self.server).await?;
            }
            let mut hashes = Vec::new();
            for script in scripts {
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
        let (in_flight, due) = mpsc::channel(MAX_IN_FLIGHT);
        let outgoing = Outgoing::new(writer, hashes, replication, in_flight);
        let mut writing = pin!(self.sending.write(outgoing));
        let mut reading = pin!(read(reader, due, replication));
        tokio::select! {
            failed = &mut writing => Err(failed),
            failed = &mut reading => failed,
            () = stopped(stop) => Ok(()),
        }
    }
}

/// Hands out the answers.
async fn read(
    mut reader: Reader,
    mut due: mpsc::Receiver<Due>,
    replication: Option<Replication>,
) -> Result<(), ConnectionError> {
    // The replies that wait for `WAIT`.
    let mut unreplicated = Vec::new();
    loop {
        let mut received = pin!(reader.receive());
        // The end of a connection is noticed when nothing is asked, too.
        let due = tokio::select! {
            biased;
            due = due.recv() => due,
            unasked = &mut received => return Err(unasked.err().unwrap_or(ConnectionError::Unasked)),
        };
        let Some(due) = due else {
            return Ok(());
        };
        let received = timeout(PATIENCE, received).await;
        let result = match received.unwrap_or(Err(ConnectionError::Silent(PATIENCE))) {
            Ok(reply) => Ok(reply),
            Err(ConnectionError::Refused(error)) => Err(error),
            Err(error) => return Err(error),
        };
        let (answer, manner) = match due {
            Due::Request(answer, manner) => (answer, manner),
            Due::Asking => continue,
            Due::Replication(over) => {
                release(&mut unreplicated, &result, replication);
                // The writer may have ended.
                let _told = over.send(());
                continue;
            }
        };
        if let (Ok(reply), true) = (&result, manner.is_replicated && replication.is_some()) {
            unreplicated.push((answer, reply.clone()));
            continue;
        }
        let lost = match &result {
            // The server has lost its scripts, or is no longer the one that takes writes: a new connection helps.
            Err(error) if needs_another_connection(error) => Some(error.clone()),
            _ => None,
        };
        // The caller may have given up.
        let _sent = answer.send(result.map_err(|error| LineError::Failed(RequestError::Refused(error))));
        if let Some(error) = lost {
            return Err(ConnectionError::Refused(error));
        }
    }
}

/// Hands out the answers that waited for the replicas.
fn release(
    unreplicated: &mut Vec<(Answer, Reply)>,
    waited: &Result<Reply, String>,
    replication: Option<Replication>,
) {
    let n_wanted = replication.map_or(0, |replication| replication.n_replicas);
    let failure = match waited {
        Ok(Reply::Integer(n)) if *n >= i64::from(n_wanted) => None,
        Ok(Reply::Integer(n)) => Some(format!(
            "{n} replicas of Redis have confirmed the message in time, and --redis_wait asks for {n_wanted}"
        )),
        Ok(other) => Some(format!("{other:?} is no answer to WAIT")),
        Err(error) => Some(format!(
            "Redis refused to wait for its replicas (--redis_wait): {error}"
        )),
    };
    for (answer, reply) in unreplicated.drain(..) {
        let result = match &failure {
            None => Ok(reply),
            Some(failure) => Err(LineError::Failed(RequestError::Unreplicated(failure.clone()))),
        };
        // The caller may have given up.
        let _sent = answer.send(result);
    }
}

fn needs_another_connection(error: &str) -> bool {
    ["NOSCRIPT", "READONLY", "MASTERDOWN", "NOAUTH"]
        .iter()
        .any(|code| error.starts_with(code))
}

#[cfg(test)]
mod tests;
