//! WebSockets of scripts, natively: what `k6/ws` and `k6/websockets` have in common.
//!
//! A [`Session`] connects and reads in the background, so also while the script sleeps or waits for a request: pings
//! are answered, and the instants of what arrives are those of the socket. What arrives waits in an [`inbox`] until the
//! script takes it.

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
mod waiter;

pub(crate) use self::{
    dial::{Dial, Flavour, Opened},
    ending::Ending,
    inbox::Happening,
    params::Params,
    session::Session,
};
