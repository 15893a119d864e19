//! The language of a connection, chosen by the request's path.

use std::{future::pending, rc::Rc};

use plimsoll_hub::SessionId;
use plimsoll_websocket::Opcode;
use smallvec::SmallVec;

use crate::{
    Config, encoding,
    ending::{Ending, NotACommand},
    shard::Shard,
};

pub(crate) mod cable;
pub(crate) mod events;
pub(crate) mod shootout;

use cable::CableSession;
use shootout::Contract;

/// The greeting that `/echo` sends first, unless `--no-welcome` is given. It is the greeting of the example server of
/// Nim's library `ws`.
const ECHO_WELCOME: &str = "Welcome to simple echo server";

/// The language of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Action Cable.
    Cable,
    /// Echoes every message unchanged.
    Echo,
    /// The websocket-shootout contract.
    Shootout(Contract),
}

impl Kind {
    /// The language of a path. `None` if the path has none.
    pub(crate) fn of_path(path: &str, config: &Config) -> Option<Self> {
        if config.echoes_everywhere {
            return Some(Self::Echo);
        }
        if config.paths.iter().any(|cable_path| cable_path.matches(path)) {
            return Some(Self::Cable);
        }
        match path {
            _ if !config.serves_load_tests => None,
            "/echo" => Some(Self::Echo),
            "/json" => Some(Self::Shootout(Contract::Json)),
            "/binary" => Some(Self::Shootout(Contract::Binary)),
            _ => None,
        }
    }
}

/// The server's side of one session's conversation.
#[derive(Debug)]
pub(crate) enum Endpoint {
    Cable(CableSession),
    Echo,
    Shootout(Contract),
}

/// Work that a message asks for and that may have to wait for earlier work.
#[derive(Debug)]
pub(crate) enum Task {
    Cable(cable::Request),
    Broadcast(shootout::Broadcast),
}

impl Task {
    /// Bytes of memory that the task occupies while it waits for its turn.
    pub(crate) fn held_bytes(&self) -> usize {
        let heap = match self {
            Self::Cable(request) => request.heap_bytes(),
            Self::Broadcast(broadcast) => broadcast.heap_bytes(),
        };
        size_of::<Self>() + heap
    }
}

impl Endpoint {
    /// Takes one message. Immediate answers are queued at once; other work goes to `tasks`.
    pub(crate) fn receive(
        &mut self,
        shard: &Shard,
        id: SessionId,
        opcode: Opcode,
        message: &[u8],
        tasks: &mut SmallVec<[Task; 1]>,
    ) {
        match self {
            Self::Cable(session) => {
                let format = shard.hub.borrow().format(id).unwrap_or(encoding::PLAIN);
                let command = match encoding::command(format, opcode, message) {
                    Ok(command) => command,
                    Err((encoding, error)) => {
                        tracing::debug!(%error, "A client sent something that is not a command.");
                        let fault = NotACommand::WrongEncoding(encoding);
                        return shard.end(id, Ending::NotACommand(fault));
                    }
                };
                match session.receive(&command) {
                    Ok(request) => {
                        shard.metrics.client_messages.increment();
                        tasks.extend(request.map(Task::Cable));
                    }
                    Err(error) => {
                        tracing::debug!(%error, "A client sent something that is not a command.");
                        shard.end(id, Ending::NotACommand((&error).into()));
                    }
                }
            }
            Self::Echo => {
                shard.metrics.client_messages.increment();
                shard.echo(id, opcode, message);
            }
            Self::Shootout(contract) => {
                let Some(request) = contract.receive(opcode, message) else {
                    return shard.end(id, Ending::NotInContract);
                };
                shard.metrics.client_messages.increment();
                match request {
                    shootout::Request::Echo => shard.send(id, encoding::frame(opcode, message)),
                    shootout::Request::Broadcast(broadcast) => tasks.push(Task::Broadcast(broadcast)),
                }
            }
        }
    }

    /// Performs a task of a message.
    pub(crate) async fn perform(&mut self, shard: &Rc<Shard>, id: SessionId, task: Task) {
        match (self, task) {
            (Self::Cable(session), Task::Cable(request)) => session.perform(shard, id, request).await,
            (_, Task::Broadcast(broadcast)) => broadcast.publish(shard, id).await,
            (_, Task::Cable(_)) => {}
        }
    }

    /// Waits until something is due besides reading, or forever if nothing is pending. Dropping the future loses
    /// nothing.
    pub(crate) async fn next_due(&mut self) -> cable::Due {
        match self {
            Self::Cable(session) => session.next_due().await,
            Self::Echo | Self::Shootout(_) => pending().await,
        }
    }

    /// Whether [`Endpoint::next_due`] may ever complete.
    pub(crate) fn has_pending(&self) -> bool {
        matches!(self, Self::Cable(session) if session.has_pending())
    }

    /// Handles what was due.
    pub(crate) async fn settle(&mut self, shard: &Rc<Shard>, id: SessionId, due: cable::Due) {
        if let Self::Cable(session) = self {
            session.settle(shard, id, due).await;
        }
    }

    /// Greets the client of an endpoint without an application.
    pub(crate) fn greet(&self, shard: &Shard, id: SessionId) {
        match self {
            Self::Echo if shard.config.greets_echo => shard.send_text(id, ECHO_WELCOME),
            Self::Shootout(contract) => {
                shard.hub.borrow_mut().subscribe(id, None, contract.stream());
            }
            Self::Echo | Self::Cable(_) => {}
        }
    }
}
