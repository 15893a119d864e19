//! A message at the moment of its arrival, for users that keep no messages.

use std::{fmt, time::Instant};

use plimsoll_cable::reply::Position;

/// A message that has just been read.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The JSON text of the payload, exactly as sent.
    pub json: &'a str,
    /// Its place in its stream; `None` for a message that the server does not keep.
    pub position: Option<&'a Position<'a>>,
    /// When it was read from the socket, on the monotonic clock.
    pub at: Instant,
    /// The time of the read on the wall clock, in milliseconds of Unix time.
    pub unix_ms: u64,
}

/// Gets each message of a channel as it is read. It must use neither the channel nor its session.
pub type OnArrival = Box<dyn FnMut(&Arrival<'_>)>;

/// The only receiver of a channel's messages.
pub(super) struct Listener(pub(super) OnArrival);

impl Listener {
    pub(super) fn hear(&mut self, arrival: &Arrival<'_>) {
        (self.0)(arrival);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
