//! An Action Cable consumer (base protocol): welcome, subscriptions, actions, and an inbox of messages.
//!
//! It uses the [`Dialect`](plimsoll_cable::subprotocol::Dialect) of the sub-protocol that the server has chosen: JSON,
//! or one of the binary encodings, whose messages are converted to JSON.
//!
//! [`Client`] is for users that do one thing after the other, such as the virtual users of a chat scenario. Callers
//! with ten thousand mute listeners use [`open`] and [`subscribe`] on a bare
//! [`Connection`](crate::websocket::Connection) and then read it themselves. Scripts, which wait for one thing while
//! others continue, use a [`session`].

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
