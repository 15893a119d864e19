//! The client's side of NATS' protocol: what the server sends, what a client sends, and how streams are named.
//!
//! Core publish/subscribe, and the requests of JetStream that the logs of streams need ([`jetstream`]). The protocol is
//! described at <https://docs.nats.io/reference/reference-protocols/nats-protocol>.
//!
//! No sockets, no runtime, no clock: bytes in, operations out.

mod decoder;
mod encode;
mod header;
pub mod jetstream;
mod subject;

pub use decoder::{Decoder, Info, Message, NotNats, Operation};
pub use encode::{Greeting, PING, PONG, connect, publish, publish_with, subscribe, unsubscribe};
pub use header::{Header, header};
pub use subject::{NameTooLong, subject, token};
