//! The wait before the next attempt to reach a server.

use std::time::Duration;

/// The longest first wait. A server that restarts is back within a second or so.
const FIRST: Duration = Duration::from_millis(250);

/// The longest wait, and so the longest time until a server that was gone for an hour is found again.
const MAX: Duration = Duration::from_secs(8);

/// Doubling waits: 250 ms, 500 ms, … 8 s. Each is shortened by up to a half at random, so that the nodes of a cluster
/// do not all reconnect at once. There is no last attempt.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Backoff {
    /// The next wait; `jitter` is from 0 to 1.
    pub(crate) fn next(&mut self, jitter: f64) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(MAX);
        wait.mul_f64(1.0 - jitter / 2.0)
    }

    /// Resets the wait to a short one, because the server was reached.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(jitter: f64, expected_ms: &[u64]) {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = expected_ms.iter().map(|_| backoff.next(jitter)).collect();
        let expected: Vec<_> = expected_ms.iter().copied().map(Duration::from_millis).collect();
        assert_eq!(waits, expected, "jitter {jitter}");
        backoff.reset();
        assert_eq!(backoff.next(jitter), expected[0], "after a reset");
    }

    #[test]
    fn waits_double_up_to_a_limit_and_are_shortened_by_up_to_a_half() {
        check(0.0, &[250, 500, 1000, 2000, 4000, 8000, 8000]);
        check(1.0, &[125, 250, 500, 1000, 2000, 4000, 4000]);
    }
}
