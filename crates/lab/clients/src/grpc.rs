//! Calls over gRPC: one connection for any number of calls at a time, unary and streaming, with messages as bytes.
//!
//! A call and the connection progress only while one of the call's methods is polled.

mod call;
mod channel;
mod endpoint;
mod error;
mod head;
mod metadata;
mod receiver;
mod sender;
mod status;

pub use self::{
    call::{Call, Reply},
    channel::Channel,
    endpoint::Endpoint,
    error::ConnectError,
    head::Head,
    metadata::Metadata,
    receiver::Receiver,
    sender::Sender,
    status::Status,
};

#[cfg(test)]
mod tests;
