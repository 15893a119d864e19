//! How many clients were connected when: the load that a target's memory is held against.

use std::time::Duration;

use plimsoll_report::timeline::{Axis, Fold, Sampled};

/// The number of clients over the time of a run, in bounded memory.
#[derive(Debug)]
pub(crate) struct Crowd {
    highest: Sampled,
    last: Sampled,
}

impl Crowd {
    pub(crate) fn new() -> Self {
        Self {
            highest: Sampled::new(Fold::Max),
            last: Sampled::new(Fold::Last),
        }
    }

    /// So many are connected `at` this time since the start.
    pub(crate) fn note(&mut self, at: Duration, n_clients: usize) {
        self.highest.record(at, n_clients as f64);
        self.last.record(at, n_clients as f64);
    }

    /// The most that were connected at the same moment in each interval.
    pub(crate) fn on(&self, axis: Axis) -> Vec<u32> {
        let mut before: f64 = 0.0;
        self.highest
            .on(axis)
            .into_iter()
            .zip(self.last.on(axis))
            .map(|(highest, last)| {
                // Who was there at the end of an interval is there at the beginning of the next one.
                let most = before.max(highest.unwrap_or(0.0));
                before = last.unwrap_or(before);
                most as u32
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_stay_until_they_leave() {
        let mut crowd = Crowd::new();
        for (ms, n_clients) in [(500, 1), (900, 5), (3_200, 6), (3_300, 2), (5_500, 3)] {
            crowd.note(Duration::from_millis(ms), n_clients);
        }
        let axis = |interval_seconds, n_intervals| Axis {
            interval_seconds,
            n_intervals,
        };
        assert_eq!(crowd.on(axis(1, 7)), [5, 5, 5, 6, 2, 3, 3]);
        assert_eq!(crowd.on(axis(2, 3)), [5, 6, 3]);
    }
}
