//! An Action Cable consumer (base protocol): welcome, subscriptions, actions, and an inbox of messages.
//!
//! It speaks the [`Dialect`](plimsoll_cable::subprotocol::Dialect) of the sub-protocol that the server has chosen: JSON, or
//! one of the binary encodings, whose messages are handed on as the JSON that they stand for.
//!
//! [`Client`] is for users who do one thing after the other, such as the virtual users of a chat scenario. Those
//! who keep ten thousand mute listeners use [`open`] and [`subscribe`] on a bare
//! [`Connection`](crate::websocket::Connection) and then read it themselves. Scripts, which wait for one thing while others
//! go on, use a [`session`].

mod client;
mod error;
mod matcher;
mod opening;
pub mod session;

pub use self::{
    client::{Client, ConnectTimings, Counters, Incoming, Options, Received},
    error::{ConnectError, Ending, InquiryError, PerformError, ReceiveError, SubscribeError},
    matcher::{Matcher, MatcherError},
    opening::{check_agreed, open, subscribe},
};
