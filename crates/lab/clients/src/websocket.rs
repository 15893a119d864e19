//! One WebSocket connection (RFC 6455) as a load client needs it: every phase timed, no buffer while idle.

mod attempt;
mod connect;
mod connection;
mod conversation;
mod error;
mod message;
mod options;
mod outgoing;
mod refusal;

pub use self::{
    attempt::{Attempt, Response},
    connect::{Timings, connect},
    connection::Connection,
    conversation::{Conversation, Discard, Recipient},
    error::{ConnectError, ReceiveError, SendError},
    message::{Counters, Message, Payload},
    options::{Compression, Options},
};

#[cfg(test)]
mod tests;
