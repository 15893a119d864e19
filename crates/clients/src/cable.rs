//! An Action Cable consumer (base protocol): welcome, subscriptions, actions, and an inbox of messages.
//!
//! [`Client`] is for users who do one thing after the other, such as the virtual users of a chat scenario. Those
//! who keep ten thousand mute listeners use [`open`] and [`subscribe`] on a bare
//! [`Connection`](crate::websocket::Connection) and then read it themselves.

mod client;
mod error;
mod inbox;
mod opening;

pub use self::{
    client::{Client, ConnectTimings, Counters, Incoming, Options, Received},
    error::{ConnectError, Ending, PerformError, ReceiveError, SubscribeError},
    opening::{open, subscribe},
};
