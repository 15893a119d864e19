//! Readings that may be slow, spaced out so that they cost little: `/proc/PID/smaps_rollup` takes a lock of the process
//! and walks all its pages, and counting sockets asks the kernel about every descriptor.

use std::time::{Duration, Instant};

/// The pause after a slow reading, as a multiple of its duration. Reason: at most one percent of the time of a core,
/// and of the time in which the target's memory is locked.
const SPACING: u32 = 100;

/// When a slow reading may be taken again.
#[derive(Debug, Default)]
pub(super) struct Paced {
    due: Option<Instant>,
}

impl Paced {
    /// Looks, if it is time to.
    pub(super) fn take<T>(&mut self, look: impl FnOnce() -> T) -> Option<T> {
        let begin = Instant::now();
        if self.due.is_some_and(|due| begin < due) {
            return None;
        }
        let found = look();
        self.rest(begin, begin.elapsed());
        Some(found)
    }

    fn rest(&mut self, begin: Instant, took: Duration) {
        self.due = Some(begin + took.saturating_mul(SPACING));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_look_rests_a_hundred_times_as_long() {
        let mut paced = Paced::default();
        assert_eq!(paced.take(|| 1), Some(1));
        paced.rest(Instant::now(), Duration::from_secs(1));
        assert_eq!(paced.take(|| 2), None);
        paced.rest(Instant::now(), Duration::ZERO);
        assert_eq!(paced.take(|| 3), Some(3));
    }
}
