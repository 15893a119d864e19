//! The times at which messages arrived, exactly and in few bytes.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::Mark;

/// Up to this size, an empty queue keeps its memory for the next message.
const KEPT_BYTES: usize = 64;

/// The most bytes of a number: seven bits in each.
const MAX_NUMBER_BYTES: usize = 10;

/// A queue of marks. Between the oldest and the latest stand the differences of neighbours: nanoseconds and milliseconds,
/// both signed.
#[derive(Debug, Default)]
pub(super) struct Marks {
    ends: Option<(Mark, Mark)>,
    steps: VecDeque<u8>,
}

impl Marks {
    /// Adds the latest mark.
    pub(super) fn push(&mut self, mark: Mark) {
        if let Some((_, latest)) = &mut self.ends {
            let n_ns = nanoseconds(latest.at, mark.at);
            let n_ms = mark.unix_ms.wrapping_sub(latest.unix_ms).cast_signed();
            *latest = mark;
            self.make_room();
            self.write(n_ns);
            self.write(n_ms);
        } else {
            self.ends = Some((mark, mark));
        }
    }

    /// Takes the oldest mark.
    pub(super) fn pop(&mut self) -> Option<Mark> {
        let (oldest, latest) = self.ends?;
        self.ends = match self.read() {
            Some(n_ns) => {
                let n_ms = self.read().unwrap_or_default();
                let next = Mark {
                    at: later(oldest.at, n_ns),
                    unix_ms: oldest.unix_ms.wrapping_add_signed(n_ms),
                };
                Some((next, latest))
            }
            None => None,
        };
        if self.steps.is_empty() && self.steps.capacity() > KEPT_BYTES {
            self.steps = VecDeque::new();
        }
        Some(oldest)
    }

    /// Grows by a quarter and not to the double, because thousands of users have as many queues.
    fn make_room(&mut self) {
        let n_bytes = self.steps.len();
        if self.steps.capacity() - n_bytes < 2 * MAX_NUMBER_BYTES {
            self.steps.reserve_exact((n_bytes / 4).max(KEPT_BYTES));
        }
    }

    /// Appends a number, the sign in its lowest bit, so that small ones are short.
    fn write(&mut self, number: i64) {
        let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
        while rest >= 0x80 {
            self.steps.push_back(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.steps.push_back(rest as u8);
    }

    fn read(&mut self) -> Option<i64> {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let byte = self.steps.pop_front()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

/// From one instant to another one, at most 292 years.
fn nanoseconds(from: Instant, to: Instant) -> i64 {
    let saturated = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    match to.checked_duration_since(from) {
        Some(duration) => saturated(duration),
        None => -saturated(from - to),
    }
}

fn later(instant: Instant, n_ns: i64) -> Instant {
    let distance = Duration::from_nanos(n_ns.unsigned_abs());
    if n_ns < 0 {
        instant - distance
    } else {
        instant + distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks at these nanoseconds and milliseconds behind the first one.
    fn marks(steps: &[(i64, u64)]) -> Vec<Mark> {
        let origin = Instant::now() + Duration::from_secs(3600);
        let mark = |&(n_ns, unix_ms)| Mark {
            at: later(origin, n_ns),
            unix_ms,
        };
        steps.iter().map(mark).collect()
    }

    #[track_caller]
    fn check(steps: &[(i64, u64)], n_bytes: usize) {
        let expected = marks(steps);
        let mut queue = Marks::default();
        for &mark in &expected {
            queue.push(mark);
        }
        assert_eq!(queue.steps.len(), n_bytes, "{steps:?}");
        let taken: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(taken, expected, "{steps:?}");
        assert!(queue.steps.is_empty() && queue.steps.capacity() <= KEPT_BYTES);
    }

    #[test]
    fn every_mark_comes_back_exactly() {
        check(&[], 0);
        check(&[(0, 7)], 0);
        // Two messages of one read.
        check(&[(5, 7), (5, 7)], 2);
        // 5 ms between them, as in a room with 200 messages per second.
        check(&[(0, 1_754_000_000_000), (5_000_123, 1_754_000_000_005)], 5);
        // A message that an observer has put back, and a wall clock that was set.
        check(&[(9, 100), (4, 7)], 3);
        check(&[(0, 0), (-3_600_000_000_000, u64::MAX), (1, 1 << 63)], 25);
        let many: Vec<_> = (0_i64..2_048)
            .map(|n| (n * 5_000_123, 5 * n.cast_unsigned()))
            .collect();
        check(&many, 5 * 2_047);
    }
}
