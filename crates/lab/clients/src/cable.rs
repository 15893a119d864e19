//! An Action Cable consumer (base protocol): welcome, subscriptions, actions, and an inbox of messages.
//!
//! It uses the [`Dialect`](plimsoll_cable::subprotocol::Dialect) of the sub-protocol that the server has chosen: JSON,
//! or one of the binary encodings, whose messages are converted to JSON.
//!
//! Callers with ten thousand mute listeners use [`open`] and [`subscribe`] on a bare
//! [`Connection`](crate::websocket::Connection) and then read it themselves. Users that wait for one thing while others
//! continue, such as scripts, use a [`session`].

mod error;
mod matcher;
mod opening;
pub mod session;

pub use self::{
    error::{ConnectError, Ending, InquiryError, SubscribeError},
    matcher::{Matcher, MatcherError},
    opening::{check_agreed, open, subscribe},
};
