//! The seam between this server and the engine through which the servers of a cluster hear each other
//! (docs/protocols/cluster.md).
//!
//! * A message leaves for the engine in [`Publisher`](crate::Publisher), instead of going to the mailboxes of the shards.
//!   Everything that clients of other servers must get passes there: broadcasts, whispers and remote commands.
//! * A message of the engine enters with [`Publisher::hear`](crate::Publisher::hear), also one of this server. So all
//!   servers have the messages of a stream in the order of the engine.
//! * The hub of each shard tells the engine which streams have listeners ([`watcher`]). A session that is about to
//!   listen tells it earlier ([`crate::hearing`]), and gets its confirmation when the engine delivers the stream.

use std::{fmt::Debug, future::Future, pin::Pin, sync::Arc};

use plimsoll_cable::broadcast::{Publication, RemoteDisconnect};
use plimsoll_hub::{Turn, Watcher};

/// A message on its way to the engine.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>>;

/// Connects the servers of a cluster. Its calls come from all shards.
pub trait Engine: Debug + Send + Sync {
    /// The engine's name in answers to operators, for example `redis`.
    fn name(&self) -> &'static str;

    /// Sends messages to all servers that listen to their streams, this one included, in their order. Completes when
    /// the engine has all of them.
    fn publish(&self, publications: Vec<Publication>) -> Sending<'_>;

    /// Like [`Engine::publish`]. An engine that keeps messages sends those with one key once, however often they come;
    /// other engines ignore the key.
    fn publish_once(&self, publications: Vec<Publication>, _key: Option<&str>) -> Sending<'_> {
        self.publish(publications)
    }

    /// Sends a command to all servers, this one included.
    fn disconnect(&self, command: RemoteDisconnect) -> Sending<'_>;

    /// A stream has one more reason to be heard: its first listener on a shard, or a session that is about to listen.
    /// Must not block.
    fn join(&self, stream: &str);

    /// One of these reasons is gone. Must not block.
    fn leave(&self, stream: &str);

    /// Completes when every message that reaches the engine from now on is delivered to this server, or when waiting for
    /// that is pointless because the engine is away. The stream was joined before.
    fn heard<'a>(&'a self, stream: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

/// Why the engine did not take a message.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// It cannot be reached at the moment, or does not answer. The sender should try again.
    #[error("the servers of the cluster cannot be reached at the moment: {0}")]
    Away(String),
    /// It can never take the message.
    #[error("{0}")]
    Refused(String),
}

/// Tells the engine which streams have listeners on a shard.
pub(crate) fn watcher(engine: Arc<dyn Engine>) -> Watcher {
    Box::new(move |stream, turn| match turn {
        Turn::Begins => engine.join(stream),
        Turn::Ends => engine.leave(stream),
    })
}
