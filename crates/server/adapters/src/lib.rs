//! Broadcasts that reach the server other than over HTTP: from Redis, by publish/subscribe or from a stream.
//!
//! An adapter stays connected for as long as the process lives ([`supervisor`]), takes payloads from Redis and hands
//! them to a [`Sink`], one at a time and in order. It reads nothing while the sink is busy, so the memory for waiting
//! payloads is bounded. They pile up in Redis, which has limits for them.
//!
//! This is the only crate that knows Redis. It must know neither sessions nor the contents of a payload.

mod backoff;
mod connection;
mod pubsub;
mod resp;
mod server;
mod sink;
mod stream;
mod supervisor;
mod target;
mod tls;

pub use pubsub::Channel;
pub use server::Server;
pub use sink::Sink;
pub use stream::{Group, Stream};
pub use target::{Target, TargetError};
pub use tls::{TlsError, TlsSettings};
