//! The client's side of NATS' protocol: what the server sends, what a client sends, and how streams are named.
//!
//! Core publish/subscribe only. The protocol is described at
//! <https://docs.nats.io/reference/reference-protocols/nats-protocol>.
//!
//! No sockets, no runtime, no clock: bytes in, operations out.

mod decoder;
mod encode;
mod subject;

pub use decoder::{Decoder, Info, NotNats, Operation};
pub use encode::{Greeting, PING, PONG, connect, publish, subscribe, unsubscribe};
pub use subject::{NameTooLong, subject};
