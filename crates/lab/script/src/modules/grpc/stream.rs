//! The class `Stream`: messages in both directions, and events.

mod class;
mod construction;
mod conversation;
mod listeners;
mod outcome;
mod queue;
mod transfer;

pub(super) use self::construction::construct;
