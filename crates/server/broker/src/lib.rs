//! What is kept for clients that are away: the latest messages of each stream, with positions, and who is present.
//!
//! A [`History`] has one [`log`](log::Log) per stream. Each log has an epoch of its own and counts its messages from 1,
//! so a position (epoch and offset) of a log that was dropped never matches the log that follows it. A request either
//! gets every message that it asks for, or is refused: a loss is never silent.
//!
//! Where several servers share the logs in a store, a [`follower`] says what each of them does with a message.
//!
//! [`Presence`] has the members of each stream; a member whose client is away for a short time stays.
//!
//! It does no I/O, reads no clock and has no randomness: callers pass the time, and a function that makes epochs. The
//! type of a message is a type parameter.

mod entry;
pub mod follower;
mod history;
mod log;
mod outline;
mod pattern;
mod place;
pub mod presence;
mod retention;
mod start;

pub use crate::{
    entry::{Entry, Label},
    history::{Cursor, History, Settings, Totals},
    outline::Outline,
    pattern::{Pattern, PatternError},
    place::Place,
    presence::Presence,
    retention::{Retention, Retentions},
    start::{Refused, Start, Truncation},
};
