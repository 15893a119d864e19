//! What is kept for clients that are away: the latest messages of each stream, with positions.
//!
//! A [`History`] has one [`log`](log::Log) per stream. Each log has an epoch of its own and counts its messages from 1,
//! so a position (epoch and offset) of a log that was dropped never matches the log that follows it. A request either
//! gets every message that it asks for, or is refused: a loss is never silent.
//!
//! It does no I/O, reads no clock and has no randomness: callers pass the time, and a function that makes epochs. The
//! type of a message is a type parameter.

mod entry;
mod history;
mod log;
mod pattern;
mod retention;
mod start;

pub use crate::{
    entry::{Entry, Label},
    history::{Cursor, History, Settings, Totals},
    pattern::{Pattern, PatternError},
    retention::{Retention, Retentions},
    start::{Refused, Start, Truncation},
};
