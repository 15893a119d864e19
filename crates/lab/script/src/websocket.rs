//! The native half of scripts' WebSockets: the code that `k6/ws` and `k6/websockets` share.
//!
//! A [`Session`] connects and reads in the background, even while the script sleeps or waits for a request: it answers
//! pings, and the time of a message is the time at which the socket received it. Received messages wait in an [`inbox`]
//! until the script takes them.

mod debug;
mod dial;
mod ending;
mod inbox;
mod params;
mod pings;
mod samples;
mod session;
#[cfg(test)]
pub(crate) mod test_server;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    dial::{Dial, Flavour, Opened},
    ending::Ending,
    inbox::Happening,
    params::Params,
    session::Session,
};
