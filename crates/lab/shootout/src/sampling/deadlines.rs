//! When to give up the answers to messages. Pure.

use std::{collections::VecDeque, time::Instant};

/// The deadlines of messages, the earliest first. It has at most as many entries as the step has messages.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    queue: VecDeque<(Instant, u64)>,
}

impl Deadlines {
    /// Adds a deadline. All messages have one limit, so the queue stays sorted.
    pub(super) fn add(&mut self, deadline: Instant, id: u64) {
        self.queue.push_back((deadline, id));
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.queue.front().map(|(deadline, _)| *deadline)
    }

    pub(super) fn expired(&mut self, now: Instant) -> impl Iterator<Item = u64> {
        let n_expired = self
            .queue
            .iter()
            .take_while(|(deadline, _)| *deadline <= now)
            .count();
        self.queue.drain(..n_expired).map(|(_, id)| id)
    }

    /// No deadline is later than this.
    pub(super) fn bring_forward(&mut self, latest: Instant) {
        for (deadline, _) in &mut self.queue {
            *deadline = latest.min(*deadline);
        }
    }
}

/// The earlier one of two times that may be absent.
pub(super) fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn deadlines_expire_in_order_and_can_come_closer() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let mut deadlines = Deadlines::default();
        (1..=3).for_each(|id| deadlines.add(now + second * u32::try_from(id).unwrap(), id));
        assert_eq!(deadlines.expired(now + second).collect::<Vec<_>>(), [1]);
        deadlines.bring_forward(now + 2 * second);
        assert_eq!(deadlines.expired(now + 2 * second).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(deadlines.next(), None);
    }
}
