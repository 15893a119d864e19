//! How many virtual users were active over a time: at most, and on average.
//!
//! The average tells a load that was held from one that was only reached: 200 users for one second of a ramp have a
//! peak of 200 and an average far below.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Follows a number of users through time. Times count from any fixed start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Presence {
    n: u32,
    /// The last change.
    at: Duration,
    /// Since the last query.
    users: Users,
}

/// The users of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users {
    /// The most users active at the same moment.
    pub peak: u32,
    /// The fewest users active at the same moment.
    pub least: u32,
    /// The time of all users together, in microseconds: two users for a second are two million.
    user_us: u64,
    /// The length of the time, in microseconds.
    us: u64,
}

impl Presence {
    /// From `now` on there are `n` users.
    pub fn set(&mut self, now: Duration, n: u32) {
        self.pass(now);
        self.n = n;
        self.users.peak = self.users.peak.max(n);
        // Without any time there were no others.
        self.users.least = match self.users.us {
            0 => n,
            _ => self.users.least.min(n),
        };
    }

    /// A user becomes active.
    pub fn enter(&mut self, now: Duration) {
        self.set(now, self.n.saturating_add(1));
    }

    /// A user is active no longer.
    pub fn leave(&mut self, now: Duration) {
        self.set(now, self.n.saturating_sub(1));
    }

    /// The users of the time since the last query.
    pub fn take(&mut self, now: Duration) -> Users {
        self.pass(now);
        let next = Users {
            peak: self.n,
            least: self.n,
            ..Users::default()
        };
        std::mem::replace(&mut self.users, next)
    }

    /// The most users active at the same moment since the last query.
    pub fn peak(&self) -> u32 {
        self.users.peak
    }

    /// The users active now.
    pub fn n(&self) -> u32 {
        self.n
    }

    /// A time before the last change counts as that of the change: clocks of threads are read one after the other.
    fn pass(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at);
        let us = u64::try_from(passed.as_micros()).unwrap_or(u64::MAX);
        self.users.us = self.users.us.saturating_add(us);
        self.users.user_us = self
            .users
            .user_us
            .saturating_add(us.saturating_mul(u64::from(self.n)));
        self.at = self.at.max(now);
    }
}

impl Users {
    /// Users whose number did not change for a time.
    pub fn steady(n: u32, time: Duration) -> Self {
        let mut presence = Presence::default();
        presence.set(Duration::ZERO, n);
        presence.take(time)
    }

    /// The users active on average; without any time, the peak.
    pub fn mean(&self) -> f64 {
        match self.us {
            0 => f64::from(self.peak),
            us => self.user_us as f64 / us as f64,
        }
    }

    /// The same users with a peak of at least `peak`.
    #[must_use]
    pub fn with_peak(self, peak: u32) -> Self {
        Self {
            peak: self.peak.max(peak),
            ..self
        }
    }

    /// The users of this time and the next together.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self {
            peak: self.peak.max(next.peak),
            least: self.least.min(next.least),
            user_us: self.user_us.saturating_add(next.user_us),
            us: self.us.saturating_add(next.us),
        }
    }

    /// These users and those of another machine in the same time. The crowds may have had their peaks and lows at
    /// different moments: the joint peak is at most the sum, and the fewest users together are at least the sum.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            peak: self.peak.saturating_add(other.peak),
            least: self.least.saturating_add(other.least),
            user_us: self.user_us.saturating_add(other.user_us),
            us: self.us.max(other.us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_peak_and_an_average_are_those_of_the_time_since_the_last_query() {
        let mut presence = Presence::default();
        for _ in 0..4 {
            presence.enter(MS(0));
        }
        presence.leave(MS(500));
        presence.leave(MS(500));
        let first = presence.take(MS(1_000));
        assert_eq!((first.least, first.peak, first.mean()), (2, 4, 3.0));
        let second = presence.take(MS(2_000));
        assert_eq!((second.peak, second.mean()), (2, 2.0));
        let both = first.and(second);
        assert_eq!((both.peak, both.mean()), (4, 2.5));
        assert_eq!(presence.take(MS(2_000)).mean(), 2.0);
    }

    #[test]
    fn a_ramp_has_half_of_its_peak_on_average() {
        let mut presence = Presence::default();
        for at in 0..200 {
            presence.enter(MS(at * 5));
        }
        let users = presence.take(MS(1_000));
        assert_eq!((users.least, users.peak, users.mean()), (1, 200, 100.5));
    }

    #[test]
    fn users_of_two_machines_are_there_at_the_same_time() {
        let mut ramp = Presence::default();
        ramp.set(MS(0), 1);
        ramp.set(MS(500), 3);
        let (ramp, steady) = (ramp.take(MS(1_000)), Users::steady(7, MS(1_000)));
        let both = ramp.beside(steady);
        assert_eq!((both.least, both.peak, both.mean()), (8, 10, 9.0));
        assert_eq!(both, steady.beside(ramp));
        // A machine that ends earlier has no users in the rest.
        assert_eq!(steady.beside(Users::steady(2, MS(500))).mean(), 8.0);
        assert_eq!(steady.beside(Users::default()), steady);
    }

    #[test]
    fn a_clock_that_was_read_earlier_takes_nothing_away() {
        let mut presence = Presence::default();
        presence.set(MS(100), 3);
        presence.set(MS(90), 2);
        assert_eq!(presence.take(MS(200)).mean(), 1.0);
        assert_eq!(Users::steady(7, MS(900)).mean(), 7.0);
    }
}
