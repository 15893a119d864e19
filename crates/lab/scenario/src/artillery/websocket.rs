//! The engine `ws`: WebSockets that are read all the time, one per virtual user or several.
//!
//! Artillery looks at messages only while a step waits for one. Here every message is counted when it arrives, answers
//! are timed, and a server that closes is noticed at once.

mod opening;
mod reception;
mod round_trips;
mod session;
mod sessions;

pub(crate) use self::{
    opening::Opening,
    session::Session,
    sessions::{FIRST, Sessions},
};
