//! The clocks of several machines: by how much an agent's differs from the coordinator's, and how well that is known.
//!
//! Only monotonic clocks are compared. A request takes its answer some time between being sent and being received, so the
//! offset of one exchange is known to half its round trip. The best of many exchanges counts, and grows uncertain with its
//! age, because crystals drift.

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_load::run::ClockOffset;
use tokio::time::Instant;

/// How fast the clocks of two machines may drift apart: 100 µs per second. Reason: crystals of servers stay within half of
/// it, and both may be off.
const DRIFT: f64 = 1e-4;

/// The most exchanges that are remembered.
const MAX_EXCHANGES: usize = 64;

/// A process' own clock: it begins with the time of the system's clock, in nanoseconds since 1970, and goes on monotonically,
/// so no correction of the system's clock changes it.
#[derive(Clone, Copy, Debug)]
pub struct Timepiece {
    origin: Instant,
    origin_ns: u64,
}

impl Timepiece {
    /// A clock that begins now.
    pub fn new() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            origin: Instant::now(),
            origin_ns: u64::try_from(since_1970.as_nanos()).unwrap_or_default(),
        }
    }

    /// The time of an instant, in nanoseconds. An instant before its beginning is its beginning.
    pub fn at(&self, instant: Instant) -> u64 {
        let elapsed = instant.saturating_duration_since(self.origin);
        let elapsed = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.origin_ns.saturating_add(elapsed)
    }

    /// The time now, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.at(Instant::now())
    }

    /// The instant at which this clock shows `ns`; its beginning for an earlier time.
    pub fn instant(&self, ns: u64) -> Instant {
        self.origin + Duration::from_nanos(ns.saturating_sub(self.origin_ns))
    }
}

impl Default for Timepiece {
    fn default() -> Self {
        Self::new()
    }
}

/// One exchange: the question was sent at `sent` and its answer received at `received` on the own clock; `theirs` is the
/// time in the answer. All in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) theirs: u64,
}

/// Another clock, known by exchanges.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    exchanges: VecDeque<Exchange>,
}

impl Clock {
    /// Takes in an exchange.
    pub(crate) fn learn(&mut self, exchange: Exchange) {
        if self.exchanges.len() == MAX_EXCHANGES {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back(exchange);
    }

    /// What is known at the time `now` of the own clock. `None` before the first exchange.
    pub fn read(&self, now: u64) -> Option<ClockOffset> {
        let readings = self.exchanges.iter().map(|exchange| exchange.reading(now));
        readings.min_by_key(|reading| reading.uncertainty_ns)
    }

    /// The shortest round trip of all exchanges, in nanoseconds.
    pub(crate) fn round_trip(&self) -> Option<u64> {
        self.exchanges.iter().map(Exchange::round_trip).min()
    }
}

impl Exchange {
    fn round_trip(&self) -> u64 {
        self.received.saturating_sub(self.sent)
    }

    fn reading(&self, now: u64) -> ClockOffset {
        let half = self.round_trip() / 2;
        let age = now.saturating_sub(self.received) as f64;
        let middle = self.sent.saturating_add(half);
        ClockOffset {
            ns: i64::try_from(i128::from(self.theirs) - i128::from(middle)).unwrap_or(i64::MAX),
            // Half a nanosecond may be lost by halving.
            uncertainty_ns: half.saturating_add(1).saturating_add((age * DRIFT) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_quickest_exchange_counts_until_it_is_old() {
        let mut clock = Clock::default();
        assert_eq!(clock.read(0), None);
        // The true offset is 1,000: the first answer was late on its way back.
        clock.learn(Exchange {
            sent: 0,
            received: 900,
            theirs: 1_100,
        });
        clock.learn(Exchange {
            sent: 1_000,
            received: 1_200,
            theirs: 2_100,
        });
        let reading = clock.read(1_200).expect("it was learnt");
        assert_eq!(
            reading,
            ClockOffset {
                ns: 1_000,
                uncertainty_ns: 101
            }
        );
        assert_eq!((reading.theirs(50), reading.own(1_050)), (1_050, 50));
        assert_eq!(clock.round_trip(), Some(200));
        // Ten seconds later it is known to a millisecond more.
        let later = clock.read(10_000_001_200).expect("it was learnt");
        assert_eq!(later.uncertainty_ns, 1_000_101);
    }

    proptest! {
        #[test]
        fn the_truth_is_within_the_uncertainty(
            offset in -1_000_000_000_i64..1_000_000_000,
            legs in prop::collection::vec((0_u64..50_000_000, 0_u64..50_000_000), 1..80),
        ) {
            let mut clock = Clock::default();
            let mut now = 2_000_000_000_u64;
            for (there, back) in legs {
                let theirs = (now + there).saturating_add_signed(offset);
                clock.learn(Exchange { sent: now, received: now + there + back, theirs });
                now += there + back;
            }
            let reading = clock.read(now).expect("it was learnt");
            prop_assert!(reading.ns.abs_diff(offset) <= reading.uncertainty_ns);
        }
    }
}
