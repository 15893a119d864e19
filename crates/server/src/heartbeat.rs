//! When each cable session is pinged: a wheel of slots, one timer for a whole shard.

use plimsoll_hub::SessionId;
use tokio::time::Duration;

/// How finely pings are spread over the interval. Smaller means more wake-ups of an idle server, larger means
/// bigger bursts: at 3 s and 10,000 sessions, 333 pings a tick.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Sessions by the tick at which they are due. A session that is gone is dropped when its slot comes up, so
/// the wheel holds at most the sessions that were opened within the last interval beside the live ones.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    slots: Vec<Vec<Entry>>,
    tick: u64,
}

#[derive(Debug)]
struct Entry {
    session: SessionId,
    first_tick: u64,
}

impl Heartbeat {
    /// A wheel that pings every `interval`.
    pub(crate) fn new(interval: Duration) -> Self {
        let n_slots = (interval.as_millis() / TICK.as_millis()).max(1);
        let n_slots = usize::try_from(n_slots).expect("an interval of seconds has few ticks");
        Self {
            slots: (0..n_slots).map(|_| Vec::new()).collect(),
            tick: 0,
        }
    }

    /// Adds a session whose first ping comes after half to one and a half intervals: `spread`, in [0, 1),
    /// says when. So a herd that connects at once is not pinged at once (AnyCable's rule, spec §2.2).
    pub(crate) fn add(&mut self, session: SessionId, spread: f64) {
        let n_slots = self.slots.len() as f64;
        let delay = ((0.5 + spread) * n_slots).round().max(1.0);
        let first_tick = self.tick + delay as u64;
        let slot = (first_tick % self.slots.len() as u64) as usize;
        self.slots[slot].push(Entry { session, first_tick });
    }

    /// Goes one tick on and returns the sessions that are due; `is_alive` says which still exist.
    pub(crate) fn advance(&mut self, mut is_alive: impl FnMut(SessionId) -> bool) -> Vec<SessionId> {
        self.tick += 1;
        let slot = (self.tick % self.slots.len() as u64) as usize;
        let tick = self.tick;
        let slot = &mut self.slots[slot];
        slot.retain(|entry| is_alive(entry.session));
        if slot.len() * 4 < slot.capacity() {
            slot.shrink_to_fit();
        }
        slot.iter()
            .filter(|entry| entry.first_tick <= tick)
            .map(|entry| entry.session)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_hub::{Format, Hub};

    use super::*;

    fn ticks_with_ping(spread: f64, n_ticks: u64) -> Vec<u64> {
        let session = Hub::<()>::new(0).insert((), Format(0));
        let mut heartbeat = Heartbeat::new(Duration::from_secs(3));
        heartbeat.add(session, spread);
        (1..=n_ticks)
            .filter(|_| !heartbeat.advance(|_| true).is_empty())
            .collect()
    }

    #[test]
    fn the_first_ping_is_spread_and_the_others_keep_the_interval() {
        assert_eq!(ticks_with_ping(0.0, 100), [15, 45, 75]);
        assert_eq!(ticks_with_ping(0.5, 100), [30, 60, 90]);
        assert_eq!(ticks_with_ping(0.999, 100), [45, 75]);
    }

    #[test]
    fn a_session_that_is_gone_is_forgotten() {
        let session = Hub::<()>::new(0).insert((), Format(0));
        let mut heartbeat = Heartbeat::new(Duration::from_secs(1));
        heartbeat.add(session, 0.0);
        let n_pings = (0..50)
            .filter(|_| !heartbeat.advance(|_| false).is_empty())
            .count();
        assert_eq!(
            (n_pings, heartbeat.slots.iter().map(Vec::len).sum::<usize>()),
            (0, 0)
        );
    }
}
