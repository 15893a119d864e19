//! The iterations of an arrival executor, claimed by virtual users of all workers.
//!
//! A free virtual user claims the next slot and waits for its time. So a slot without a claim when it is due had no
//! free virtual user. Workers share one number, no lock and no queue.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use crate::executor::{Arrivals, WhenLate};

/// What waking may cost: a user that starts its slot late for this reason counts as free from that
/// much earlier, and a slot is given up only so much later.
///
/// Reason: the kernel's timer fires on time, but on a busy machine a thread is woken a millisecond or two late.
pub(super) const TIMER_TOLERANCE: Duration = Duration::from_millis(2);

/// All slots of one scenario. Times count from its start.
#[derive(Debug)]
pub(super) struct Slots {
    arrivals: Arrivals,
    when_late: WhenLate,
    /// The first unclaimed slot.
    next: AtomicU64,
}

/// What a free virtual user gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// The start. `None` if all slots are gone.
    pub(super) start: Option<Duration>,
    /// Slots that were due without a free user.
    pub(super) n_dropped: u64,
}

impl Slots {
    pub(super) fn new(arrivals: Arrivals, when_late: WhenLate) -> Self {
        Self {
            arrivals,
            when_late,
            next: AtomicU64::new(0),
        }
    }

    /// The next slot for a virtual user that is free since `free_at`.
    pub(super) fn claim(&self, free_at: Duration) -> Claim {
        let n_passed = match self.when_late {
            WhenLate::Drop => self.arrivals.n_before(free_at),
            WhenLate::Wait => 0,
        };
        let n_total = self.arrivals.n_total();
        let next = self.advance(|next| (next.max(n_passed) + 1).min(n_total));
        let mine = next.max(n_passed).min(n_total);
        Claim {
            start: self.arrivals.start(mine),
            n_dropped: mine - next,
        }
    }

    /// The start of the first unclaimed slot.
    pub(super) fn next_start(&self) -> Option<Duration> {
        self.arrivals.start(self.next.load(Relaxed))
    }

    /// Whether slots are kept until they are claimed.
    pub(super) fn are_kept(&self) -> bool {
        self.when_late == WhenLate::Wait
    }

    /// Gives up all unclaimed slots up to `at`. Returns their number.
    pub(super) fn give_up_to(&self, at: Duration) -> u64 {
        let n_passed = self.arrivals.n_before(at.saturating_add(Duration::from_nanos(1)));
        let next = self.advance(|next| next.max(n_passed));
        n_passed.saturating_sub(next)
    }

    /// Gives up all unclaimed slots. Returns their number.
    pub(super) fn give_up_all(&self) -> u64 {
        let n_total = self.arrivals.n_total();
        n_total - self.advance(|_| n_total).min(n_total)
    }

    /// Advances the first unclaimed slot and returns the previous one.
    fn advance(&self, to: impl Fn(u64) -> u64) -> u64 {
        self.next
            .fetch_update(Relaxed, Relaxed, |next| Some(to(next)))
            .unwrap_or_else(|next| next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Ten per second for one second.
    fn slots() -> Slots {
        slots_that(WhenLate::Drop)
    }

    fn slots_that(when_late: WhenLate) -> Slots {
        let second = Duration::from_secs(1);
        Slots::new(Arrivals::constant(10, second, second).unwrap(), when_late)
    }

    fn claim(start_ms: Option<u64>, n_dropped: u64) -> Claim {
        Claim {
            start: start_ms.map(MS),
            n_dropped,
        }
    }

    #[test]
    fn free_users_share_what_is_to_come() {
        let slots = slots();
        assert_eq!(slots.claim(MS(0)), claim(Some(0), 0));
        assert_eq!(slots.claim(MS(0)), claim(Some(100), 0));
        assert_eq!(slots.claim(MS(200)), claim(Some(200), 0));
        assert_eq!(slots.claim(MS(551)), claim(Some(600), 3));
        assert_eq!(slots.next_start(), Some(MS(700)));
        assert_eq!(slots.claim(MS(950)), claim(None, 3));
        assert_eq!(slots.claim(MS(2_000)), claim(None, 0));
        assert_eq!(slots.next_start(), None);
    }

    #[test]
    fn kept_slots_wait_for_whoever_is_free() {
        let slots = slots_that(WhenLate::Wait);
        assert!(slots.are_kept());
        assert_eq!(slots.claim(MS(551)), claim(Some(0), 0));
        assert_eq!(slots.claim(MS(2_000)), claim(Some(100), 0));
        for ms in 2..10 {
            assert_eq!(slots.claim(MS(5_000)), claim(Some(ms * 100), 0));
        }
        assert_eq!(slots.claim(MS(5_000)), claim(None, 0));
    }

    #[test]
    fn what_nobody_claims_in_time_is_given_up_once() {
        let slots = slots();
        assert_eq!(slots.give_up_to(MS(0)), 1);
        assert_eq!(slots.claim(MS(0)), claim(Some(100), 0));
        assert_eq!(slots.give_up_to(MS(150)), 0);
        assert_eq!(slots.give_up_to(MS(400)), 3);
        assert_eq!(slots.claim(MS(401)), claim(Some(500), 0));
        assert_eq!(slots.give_up_to(MS(5_000)), 4);
        assert_eq!(slots.claim(MS(0)), claim(None, 0));
    }
}
