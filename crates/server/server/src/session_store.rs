//! The seam between this server and a store in which the servers of a cluster leave each other their sessions
//! (docs/protocols/extended.md, Resuming).
//!
//! Without such a store a session can go on at its own server alone ([`crate::awaited`]). With one, each server says what
//! its sessions are, while they are open, too; a server to which a client comes back takes the session, and the store gives
//! it to one server only.

use std::{fmt::Debug, future::Future, pin::Pin};

use crate::engine::EngineError;

/// An answer of the store that is awaited.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, EngineError>> + Send + 'a>>;

/// What is needed to go on with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// Whose session it is, as the application has named its client.
    pub identifiers: Box<str>,
    /// The rest, which only this server reads and writes.
    pub record: Vec<u8>,
}

/// Keeps sessions. Its calls come from all shards; those that return nothing must not block.
pub trait SessionStore: Debug + Send + Sync {
    /// A session is open at this server, and is like this now.
    fn hold(&self, sid: &str, session: StoredSession);

    /// The connection of a session has ended. Its client may go on at any server.
    fn leave(&self, sid: &str, session: StoredSession);

    /// A session has ended for good.
    fn end(&self, sid: &str);

    /// Takes a session, with the right to go on with it. A server that still has its connection is told to end it
    /// ([`Publisher::release`](crate::Publisher::release)). `identifiers`: only a session of this client.
    fn take<'a>(&'a self, sid: &'a str, identifiers: Option<&'a str>)
    -> Answering<'a, Option<StoredSession>>;

    /// Whether a server has taken a session that this one has left.
    fn is_taken<'a>(&'a self, sid: &'a str) -> Answering<'a, bool>;
}
