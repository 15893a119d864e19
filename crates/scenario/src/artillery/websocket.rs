//! The engine `ws`: one WebSocket per virtual user, read all the time.
//!
//! Artillery looks at messages only while a step waits for one. Here every message is counted when it arrives, answers
//! are timed, and a server that closes is noticed at once.

mod inbox;
mod opening;
mod reception;
mod round_trips;
mod session;

pub(crate) use self::{opening::Opening, session::Session};
