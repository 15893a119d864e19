//! One WebSocket connection (RFC 6455) as a load client needs it: every phase timed, no buffer while idle.

mod connect;
mod connection;
mod error;
mod message;
mod options;
mod outgoing;
mod tcp;

pub use self::{
    connect::{Timings, connect},
    connection::Connection,
    error::{ConnectError, ReceiveError, SendError},
    message::{Counters, Message, Payload},
    options::Options,
};

#[cfg(test)]
mod tests;
