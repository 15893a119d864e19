//! The seam between sessions and the application that decides who may connect, subscribe and do what.
//!
//! Its shape is AnyCable's RPC contract (docs/protocols/rpc.md): stateless calls with everything the application needs in
//! them, and replies that say which streams to join and which messages to transmit verbatim. Two applications
//! are embedded; remote ones take the same seam.

use std::{collections::BTreeMap, future::Future, pin::Pin};

mod benchmark;
mod channel;
mod chat;
mod environment;
mod identification;
mod no_application;
mod stream_channels;

pub use benchmark::Benchmark;
pub use chat::Chat;
pub(crate) use environment::WHISPER_STREAM;
pub use environment::{Environment, REMOTE_ADDRESS, State, StateChanges};
pub use identification::{Identification, Tokens, WithoutToken};
pub use no_application::NoApplication;
pub use stream_channels::{StreamChannel, StreamChannels};

/// A call under way. It stays on the session's shard, so it need not be `Send`.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Decides what sessions may do.
///
/// Some decide for a part of the clients or channels and stand in front of another one, to which they pass on every
/// method.
///
/// Calls for one session come one at a time, in the order of its commands. A call must not block the thread:
/// a whole shard waits with it.
pub trait Application: Send + Sync {
    /// A client has connected. The reply's transmissions carry the welcome message.
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply>;

    /// A client subscribes, unsubscribes or performs an action.
    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply>;

    /// Whether sessions keep their environment for the application. An application that keeps things itself says
    /// no, and its sessions stay small.
    fn keeps_state_in_sessions(&self) -> bool {
        false
    }

    /// Whether it wants to hear of the end even of sessions that it never dealt with.
    fn hears_of_every_end(&self) -> bool {
        false
    }

    /// A session is over; comes once per session, and only when a reply asked for it (`hears_of_end`). It must
    /// not wait: what takes time is queued.
    fn disconnect(&self, _request: DisconnectRequest) {}

    /// The server begins to stop: all sessions are about to end, and new ones do not come.
    fn stopping(&self) {}

    /// All sessions are over and the server is about to stop: completes when everything that was queued is
    /// done. The server waits for a limited time only.
    fn finish(&self) -> Reply<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A new connection, as the application sees it.
#[derive(Debug, Clone)]
pub struct ConnectRequest {
    /// The number of the session's shard, from 0: an application may keep things for each.
    pub shard: usize,
    /// The session's id, made by the server.
    pub sid: String,
    /// Where the client came from.
    pub environment: Environment,
}

/// What became of a connection.
#[derive(Debug)]
pub enum ConnectReply {
    /// The client may stay.
    Accepted {
        /// Who it is, in the application's words; comes back with every command.
        identifiers: String,
        /// Messages for the client, sent verbatim, the welcome among them.
        transmissions: Vec<String>,
        /// The first state of the connection.
        cstate: StateChanges,
        /// Whether the application wants to hear of the session's end.
        hears_of_end: bool,
    },
    /// The client is not welcome.
    Refused {
        /// Messages for the client, sent verbatim before the connection closes.
        transmissions: Vec<String>,
    },
    /// The application did not decide. It has logged why.
    Failed,
}

/// One command of a client.
#[derive(Debug)]
pub struct CommandRequest<'a> {
    /// As in [`ConnectRequest`].
    pub shard: usize,
    /// The session's id.
    pub sid: &'a str,
    /// What `connect` returned.
    pub identifiers: &'a str,
    /// The channel and its parameters, as the client wrote them.
    pub identifier: &'a str,
    /// What the client wants.
    pub action: Action<'a>,
    /// Whether the same command failed before, and the server repeats it by itself. Others go first.
    pub is_repetition: bool,
    /// Where the client came from, which is empty unless [`Application::keeps_state_in_sessions`], and the
    /// connection's state.
    pub environment: &'a Environment,
    /// The subscription's state.
    pub istate: &'a State,
}

/// What a client wants of a channel.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    /// To hear it.
    Subscribe,
    /// To hear it no more. The server drops the subscription's streams whatever the reply says.
    Unsubscribe,
    /// To do something; the data is JSON text with an `action`.
    Perform(&'a str),
}

/// The result of a command, applied in the order of the fields (docs/protocols/rpc.md, Command).
#[derive(Debug, Default)]
pub struct CommandReply {
    /// What the application decided.
    pub status: Status,
    /// Whether the subscription leaves all its streams.
    pub stops_streams: bool,
    /// Streams that the subscription leaves.
    pub stopped_streams: Vec<String>,
    /// Streams that the subscription hears from now on.
    pub streams: Vec<String>,
    /// Changes of the subscription's state.
    pub istate: StateChanges,
    /// Changes of the connection's state.
    pub cstate: StateChanges,
    /// Messages for the client, sent verbatim: a confirmation or rejection, and whatever else.
    pub transmissions: Vec<String>,
    /// Whether the connection ends after the transmissions.
    pub disconnects: bool,
    /// Whether the application wants to hear of the session's end from now on; there is no way back.
    pub hears_of_end: bool,
    /// Why the application did not decide, for people; empty unless the status is [`Status::Failed`].
    pub failure: Box<str>,
}

/// What an application decided about a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Status {
    /// The subscription is granted.
    Accepted,
    /// The subscription is not granted; of no meaning for other actions.
    #[default]
    Refused,
    /// The application did not decide and has logged why; the rest of the reply is empty. The session repeats a
    /// subscription by itself then, and nothing else.
    Failed,
}

/// A session that is over.
#[derive(Debug)]
pub struct DisconnectRequest {
    /// The session's id.
    pub sid: Box<str>,
    /// What `connect` returned.
    pub identifiers: Box<str>,
    /// The subscriptions that the application had granted.
    pub subscriptions: Vec<Box<str>>,
    /// Where the client came from, and the connection's state.
    pub environment: Environment,
    /// The state of each subscription that has one.
    pub istate: BTreeMap<Box<str>, State>,
}

#[cfg(test)]
mod tests;
