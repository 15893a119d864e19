//! Deadlines for sessions that have sent their Close frame and wait for the peer's.

use std::collections::VecDeque;

use plimsoll_hub::SessionId;
use tokio::time::{Duration, Instant};

/// How long a peer may take to answer a Close frame before its connection is cut. A live peer answers within a round
/// trip.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A first-in, first-out queue, because all timeouts have the same length. At most one entry per session.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    waiting: VecDeque<(Instant, SessionId)>,
}

impl Deadlines {
    pub(crate) fn add(&mut self, session: SessionId, now: Instant) {
        self.waiting.push_back((now + CLOSE_TIMEOUT, session));
    }

    /// Removes one session whose deadline has passed, and returns it.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<SessionId> {
        self.waiting
            .pop_front_if(|(deadline, _)| *deadline <= now)
            .map(|(_, session)| session)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_hub::{Budget, Format, Hub};

    use super::*;

    #[test]
    fn sessions_are_due_in_order_and_not_before_their_time() {
        let mut hub = Hub::<()>::new(0, Budget::new(0));
        let (first, second) = (hub.insert((), Format(0)), hub.insert((), Format(0)));
        let start = Instant::now();
        let later = start + Duration::from_secs(1);
        let mut deadlines = Deadlines::default();
        deadlines.add(first, start);
        deadlines.add(second, later);

        assert_eq!(deadlines.pop_due(later), None);
        assert_eq!(deadlines.pop_due(start + CLOSE_TIMEOUT), Some(first));
        assert_eq!(deadlines.pop_due(start + CLOSE_TIMEOUT), None);
        assert_eq!(deadlines.pop_due(later + CLOSE_TIMEOUT), Some(second));
        assert_eq!(deadlines.pop_due(later + CLOSE_TIMEOUT), None);
    }
}
