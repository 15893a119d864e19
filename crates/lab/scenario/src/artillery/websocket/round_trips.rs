//! Round trips of messages that return unchanged: from an echo server, or in a room that the sender is in.
//!
//! A step that only sends has no answer to wait for. The return of the message itself ends its round trip, whatever
//! else arrives in between.

use std::{
    collections::VecDeque,
    hash::Hasher as _,
    time::{Duration, Instant},
};

use rustc_hash::FxHasher;

/// The most messages in flight that can be timed. Reason: 24 KiB; ten seconds of a user that sends a hundred per
/// second.
const MOST_UNDER_WAY: usize = 1_024;

/// Messages that may still come back, the oldest first.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    under_way: VecDeque<(u64, Instant)>,
}

impl RoundTrips {
    /// Records a sent message. Returns false if too many are in flight; then it is not timed.
    pub(super) fn sent(&mut self, payload: &[u8], at: Instant) -> bool {
        let has_room = self.under_way.len() < MOST_UNDER_WAY;
        if has_room {
            self.under_way.push_back((fingerprint(payload), at));
        }
        has_room
    }

    /// Records a received message. Returns its round-trip time if it is one of those sent.
    pub(super) fn received(&mut self, payload: &[u8], at: Instant) -> Option<Duration> {
        if self.under_way.is_empty() {
            return None;
        }
        let fingerprint = fingerprint(payload);
        let position = self
            .under_way
            .iter()
            .position(|&(known, _)| known == fingerprint)?;
        let (_, sent) = self.under_way.remove(position)?;
        Some(at.saturating_duration_since(sent))
    }
}

/// The fingerprint of a message. Different messages have equal ones with a probability of 2^-64, which is negligible.
fn fingerprint(payload: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(payload);
    hasher.write_usize(payload.len());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn messages_that_come_back_are_timed() {
        let start = Instant::now();
        let mut trips = RoundTrips::default();
        for (payload, ms) in [("a", 0), ("b", 10), ("a", 20)] {
            assert!(trips.sent(payload.as_bytes(), start + MS(ms)));
        }
        let mut received = |payload: &str, ms| trips.received(payload.as_bytes(), start + MS(ms));
        assert_eq!(received("welcome", 21), None);
        assert_eq!(received("b", 30), Some(MS(20)));
        assert_eq!(received("a", 40), Some(MS(40)));
        assert_eq!(received("a", 50), Some(MS(30)));
        assert_eq!(received("a", 60), None);
    }

    #[test]
    fn too_many_under_way_are_not_timed() {
        let mut trips = RoundTrips::default();
        let n_timed = (0..MOST_UNDER_WAY + 5)
            .filter(|_| trips.sent(b"x", Instant::now()))
            .count();
        assert_eq!(n_timed, MOST_UNDER_WAY);
    }
}
