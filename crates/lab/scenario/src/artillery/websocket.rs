//! The engine `ws`: WebSockets that are read all the time, one or several per virtual user.
//!
//! Artillery reads messages only while a step waits for one. Here every message is counted when it arrives, answers are
//! timed, and a close by the server is noticed at once.

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
