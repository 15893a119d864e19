//! Sessions that must be gone by a certain time: they said goodbye and wait for the other side.

use std::collections::VecDeque;

use plimsoll_hub::SessionId;
use tokio::time::{Duration, Instant};

/// How long a peer may take to answer a Close frame. Beyond it the connection is cut; a peer that is alive
/// answers within a round trip.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// First in, first out, because all deadlines are equally far away. At most one entry per session.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    waiting: VecDeque<(Instant, SessionId)>,
}

impl Deadlines {
    pub(crate) fn add(&mut self, session: SessionId, now: Instant) {
        self.waiting.push_back((now + CLOSE_TIMEOUT, session));
    }

    /// Takes one session whose time is up.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<SessionId> {
        self.waiting.pop_front_if(|(deadline, _)| *deadline <= now).map(|(_, session)| session)
    }
}
