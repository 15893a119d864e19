//! The seam between sessions and the application, which decides who may connect, subscribe and perform actions.
//!
//! Its shape is AnyCable's RPC contract (docs/protocols/rpc.md): stateless calls that carry everything the application
//! needs, and replies that say which streams to join and which messages to transmit verbatim. Two applications are
//! embedded; remote ones use the same seam.

use std::{future::Future, pin::Pin, time::SystemTime};

mod benchmark;
mod channel;
mod chat;
mod entries;
mod environment;
mod identification;
mod no_application;
mod stream_channels;

pub use benchmark::Benchmark;
pub use chat::Chat;
pub use entries::Entries;
pub use environment::{Environment, REMOTE_ADDRESS, State, StateChanges};
pub(crate) use environment::{PRESENCE_STREAM, WHISPER_STREAM};
pub use identification::{Identification, Tokens, WithoutToken};
pub use no_application::NoApplication;
pub use stream_channels::{StreamChannel, StreamChannels, StreamRights};

/// A call in progress. It stays on the session's shard, so it need not be `Send`.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Decides what sessions may do.
///
/// Some applications decide only for a part of the clients or channels. They stand in front of another application and
/// forward all other calls to it.
///
/// The calls for one session come one at a time, in the order of its commands. A call must not block the thread,
/// because a whole shard would wait.
pub trait Application: Send + Sync {
    /// A client has connected. The reply's transmissions carry the welcome message.
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply>;

    /// Which earlier sessions a client may go on with that names one. If it may not, it connects like any other.
    fn may_resume<'a>(&'a self, _request: &'a ConnectRequest) -> Reply<'a, MayResume> {
        Box::pin(std::future::ready(MayResume::Any))
    }

    /// A client subscribes, unsubscribes or performs an action.
    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply>;

    /// Whether sessions keep their environment for the application. An application that keeps its own state returns
    /// `false`, and its sessions stay small.
    fn keeps_state_in_sessions(&self) -> bool {
        false
    }

    /// Whether the application wants a `disconnect` call even for sessions that it never handled.
    fn hears_of_every_end(&self) -> bool {
        false
    }

    /// A session has ended. Called once per session, and only if a reply asked for it (`hears_of_end`). The method must
    /// not wait; it queues slow work.
    fn disconnect(&self, _request: DisconnectRequest) {}

    /// The server begins to stop: all sessions are about to end, and no new ones are opened.
    fn stopping(&self) {}

    /// Called after the last session has ended, shortly before the server stops. Completes when all queued work is
    /// done. The server waits for a limited time only.
    fn finish(&self) -> Reply<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A new connection, as the application sees it.
#[derive(Debug, Clone)]
pub struct ConnectRequest {
    /// The number of the session's shard, from 0. An application may keep state per shard.
    pub shard: usize,
    /// The session's id, made by the server.
    pub sid: String,
    /// The client's address, URL and headers.
    pub environment: Environment,
}

/// The application's decision about a connection.
#[derive(Debug)]
pub enum ConnectReply {
    /// The client may stay.
    Accepted {
        /// The identifiers that the application gives the client. Every later command carries them.
        identifiers: String,
        /// Messages for the client, sent verbatim, the welcome among them.
        transmissions: Vec<String>,
        /// The first state of the connection.
        cstate: StateChanges,
        /// Whether the application wants to hear of the session's end.
        hears_of_end: bool,
        /// The time from which on the session cannot be resumed, because the client's token expires. `None`: no such
        /// time.
        expires_at: Option<SystemTime>,
    },
    /// The client may not connect.
    Refused {
        /// Messages for the client, sent verbatim before the connection closes.
        transmissions: Vec<String>,
    },
    /// The application did not decide. It has logged the reason.
    Failed,
}

/// The earlier sessions that a client may go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MayResume {
    /// The one whose id it knows.
    Any,
    /// The one whose id it knows, if the session has these identifiers.
    Of(String),
    /// None.
    None,
}

/// One command of a client.
#[derive(Debug)]
pub struct CommandRequest<'a> {
    /// As in [`ConnectRequest`].
    pub shard: usize,
    /// The session's id.
    pub sid: &'a str,
    /// The identifiers that `connect` returned.
    pub identifiers: &'a str,
    /// The channel and its parameters, as the client wrote them.
    pub identifier: &'a str,
    /// What the client asks for.
    pub action: Action<'a>,
    /// Whether the server repeats this command on its own because it failed before. New commands go first.
    pub is_repetition: bool,
    /// The client's request, empty unless [`Application::keeps_state_in_sessions`] is true, and the connection's state.
    pub environment: &'a Environment,
    /// The subscription's state.
    pub istate: &'a State,
}

/// A client's request to a channel.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    /// Subscribe to the channel.
    Subscribe,
    /// Unsubscribe from the channel. The server drops the subscription's streams whatever the application replies.
    Unsubscribe,
    /// Perform an action. The data is JSON text with an `action`.
    Perform(&'a str),
}

/// The result of a command, applied in the order of the fields (docs/protocols/rpc.md, Command).
#[derive(Debug, Default)]
pub struct CommandReply {
    /// The application's decision.
    pub status: Status,
    /// Whether the subscription leaves all its streams.
    pub stops_streams: bool,
    /// Streams that the subscription leaves.
    pub stopped_streams: Vec<String>,
    /// Streams that the subscription joins.
    pub streams: Vec<String>,
    /// Changes of the subscription's state.
    pub istate: StateChanges,
    /// Changes of the connection's state.
    pub cstate: StateChanges,
    /// Messages for the client, sent verbatim: a confirmation or rejection, and any others.
    pub transmissions: Vec<String>,
    /// Whether the client is present from now on, or no longer. `None` leaves it as it is.
    pub presence: Option<PresenceChange>,
    /// Whether the connection ends after the transmissions.
    pub disconnects: bool,
    /// Whether the application wants to be told when the session ends. Once true, it stays true for the session.
    pub hears_of_end: bool,
    /// The reason why the application did not decide, as text for people. Empty unless the status is
    /// [`Status::Failed`].
    pub failure: Box<str>,
}

/// An application's decision about a client's presence on the stream that the subscription's state names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PresenceChange {
    /// The client is present.
    Join {
        /// The member's id, not empty.
        id: String,
        /// What the others are told about the member, as JSON text. Empty: nothing.
        info: String,
    },
    /// The client is no longer present.
    Leave,
}

/// An application's decision about a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Status {
    /// The subscription is granted.
    Accepted,
    /// The subscription is not granted. Has no meaning for other actions.
    #[default]
    Refused,
    /// The application did not decide and has logged the reason; the rest of the reply is empty. The session retries
    /// subscriptions, and no other commands, on its own.
    Failed,
}

/// A session that has ended.
#[derive(Debug)]
pub struct DisconnectRequest {
    /// The session's id.
    pub sid: Box<str>,
    /// The identifiers that `connect` returned.
    pub identifiers: Box<str>,
    /// The subscriptions that the application had granted.
    pub subscriptions: Vec<Box<str>>,
    /// The client's request, and the connection's state.
    pub environment: Environment,
    /// The state of each subscription that has one.
    pub istate: Entries<State>,
}

#[cfg(test)]
mod tests;
