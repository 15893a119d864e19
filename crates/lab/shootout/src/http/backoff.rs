//! The delay of a lane whose requests fail one after the other.
//!
//! A server that is gone refuses within microseconds. A run that goes on until its time is up would ask it as often as
//! this machine can: a million failures that say no more than ten, and no CPU for the server that comes back.

use std::time::{Duration, Instant};

/// The time between the starts of the second and the third consecutive failing request. Reason: a hundred times the
/// duration of a refusal, and shorter than any restart of a server.
const FIRST: Duration = Duration::from_millis(10);

/// The longest time between two starts. Reason: a server that is back has its load within a second.
pub(crate) const LONGEST: Duration = Duration::from_secs(1);

/// The failures of a lane since its last response.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    n_in_row: u32,
}

impl Backoff {
    /// Records the end of the request that started at `started`. Returns when the next one may start; `None` for at
    /// once.
    ///
    /// One failure alone holds nothing back: servers restart and drop connections, and that is what the run measures.
    /// Of more in a row, each doubles the time between two starts.
    pub(crate) fn note(&mut self, has_failed: bool, started: Instant) -> Option<Instant> {
        if !has_failed {
            self.n_in_row = 0;
            return None;
        }
        self.n_in_row = self.n_in_row.saturating_add(1);
        let n_doublings = self.n_in_row.checked_sub(2)?;
        let factor = 1_u32.checked_shl(n_doublings).unwrap_or(u32::MAX);
        Some(started + FIRST.saturating_mul(factor).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_take_their_time() {
        let started = Instant::now();
        let mut backoff = Backoff::default();
        let mut check = |endings: &str, expected_ms: &[Option<u128>]| {
            let next = endings.chars().map(|ending| backoff.note(ending == 'x', started));
            let waits: Vec<_> = next
                .map(|next| next.map(|next| (next - started).as_millis()))
                .collect();
            assert_eq!(waits, expected_ms, "{endings}");
        };
        check("..x.", &[None; 4]);
        check("xxx.x.", &[None, Some(10), Some(20), None, None, None]);
        check(
            "xxxxxxxxxx",
            &[0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000].map(|ms| (ms > 0).then_some(ms)),
        );
        assert_eq!(
            (0..100).map(|_| backoff.note(true, started)).max(),
            Some(Some(started + LONGEST))
        );
    }
}
