//! Decides when each session is pinged: a wheel of slots with one timer for a whole shard.

use plimsoll_hub::SessionId;
use tokio::time::Duration;

use crate::pace::{Pace, PingPrecision};

/// The width of a slot. A smaller value wakes an idle server more often, a larger one makes bigger bursts: at a ping
/// interval of 3 s, 10,000 sessions make 333 pings a tick.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Ticks in a second.
const TICKS_PER_SEC: u32 = 10;

/// Sessions by the tick at which they are due. The wheel turns once in the server's own interval. Sessions with that
/// interval stay in their slot; those with a longer one are skipped until they are due. A dead session is dropped when
/// its slot comes up, so besides the live sessions the wheel holds at most those opened within one turn.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    /// The pace of sessions that ask for no other.
    own: Pace,
    slots: Vec<Vec<Entry>>,
    /// Ticks since the start. The counter lasts thirteen years.
    tick: u32,
}

/// Kept at 16 bytes, because there is one per session.
#[derive(Debug, Clone, Copy)]
struct Entry {
    session: SessionId,
    due: u32,
    pace: Pace,
}

impl Heartbeat {
    /// Creates a wheel whose sessions are pinged at this pace unless they ask for another.
    pub(crate) fn new(own: Pace) -> Self {
        let n_slots = u32::from(own.interval_secs) * TICKS_PER_SEC;
        Self {
            own,
            slots: (0..n_slots).map(|_| Vec::new()).collect(),
            tick: 0,
        }
    }

    /// Adds a session. The query of its request's `url` may ask for another pace. The first ping comes after half to
    /// one and a half intervals, chosen by `spread` in [0, 1), so clients that connect together are not pinged together
    /// (docs/protocols/cable.md, Pings).
    pub(crate) fn add(&mut self, session: SessionId, url: &str, spread: f64) {
        let pace = self.own.with_wishes_of(url);
        let delay = ((0.5 + spread) * f64::from(pace.n_ticks())).round().max(1.0);
        self.insert(Entry {
            session,
            due: self.tick + delay as u32,
            pace,
        });
    }

    /// Advances by one tick and returns the sessions that are due. `is_alive` says which still exist.
    pub(crate) fn advance(
        &mut self,
        mut is_alive: impl FnMut(SessionId) -> bool,
    ) -> Vec<(SessionId, PingPrecision)> {
        self.tick += 1;
        let tick = self.tick;
        let n_slots = self.slots.len() as u32;
        let slot = &mut self.slots[(tick % n_slots) as usize];
        let mut due = Vec::new();
        let mut moving = Vec::new();
        slot.retain_mut(|entry| {
            if !is_alive(entry.session) {
                return false;
            }
            if entry.due > tick {
                return true;
            }
            due.push((entry.session, entry.pace.precision));
            entry.due += entry.pace.n_ticks();
            let stays = entry.due % n_slots == tick % n_slots;
            if !stays {
                moving.push(*entry);
            }
            stays
        });
        if slot.len() * 4 < slot.capacity() {
            slot.shrink_to_fit();
        }
        moving.into_iter().for_each(|entry| self.insert(entry));
        due
    }

    fn insert(&mut self, entry: Entry) {
        let n_slots = self.slots.len();
        self.slots[entry.due as usize % n_slots].push(entry);
    }
}

impl Pace {
    fn n_ticks(self) -> u32 {
        u32::from(self.interval_secs) * TICKS_PER_SEC
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_hub::{Budget, Format, Hub};

    use super::*;

    fn heartbeat(interval_secs: u64) -> Heartbeat {
        let interval = Duration::from_secs(interval_secs);
        Heartbeat::new(Pace::new(interval, PingPrecision::Seconds))
    }

    fn session() -> SessionId {
        Hub::<()>::new(0, Budget::new(0)).insert((), Format(0))
    }

    fn ticks_with_ping(url: &str, spread: f64, n_ticks: u64) -> Vec<u64> {
        let mut heartbeat = heartbeat(3);
        heartbeat.add(session(), url, spread);
        (1..=n_ticks)
            .filter(|_| !heartbeat.advance(|_| true).is_empty())
            .collect()
    }

    #[test]
    fn the_first_ping_is_spread_and_the_others_keep_the_interval() {
        assert_eq!(ticks_with_ping("/", 0.0, 100), [15, 45, 75]);
        assert_eq!(ticks_with_ping("/", 0.5, 100), [30, 60, 90]);
        assert_eq!(ticks_with_ping("/", 0.999, 100), [45, 75]);
    }

    #[test]
    fn a_session_may_have_an_interval_of_its_own() {
        assert_eq!(ticks_with_ping("/?pi=1", 0.0, 40), [5, 15, 25, 35]);
        assert_eq!(ticks_with_ping("/?pi=2", 0.5, 80), [20, 40, 60, 80]);
        assert_eq!(ticks_with_ping("/?pi=6", 0.0, 160), [30, 90, 150]);
        assert_eq!(ticks_with_ping("/?pi=7", 0.999, 300), [105, 175, 245]);
    }

    #[test]
    fn a_session_is_due_with_its_precision() {
        let mut heartbeat = heartbeat(1);
        let session = session();
        heartbeat.add(session, "/?ptp=ms", 0.0);
        let due: Vec<_> = (0..5).flat_map(|_| heartbeat.advance(|_| true)).collect();
        assert_eq!(due, [(session, PingPrecision::Milliseconds)]);
    }

    #[test]
    fn an_entry_is_small() {
        assert_eq!(size_of::<Entry>(), 16);
    }

    #[test]
    fn a_session_that_is_gone_is_forgotten() {
        for url in ["/", "/?pi=3600"] {
            let mut heartbeat = heartbeat(1);
            heartbeat.add(session(), url, 0.0);
            let n_pings = (0..50)
                .filter(|_| !heartbeat.advance(|_| false).is_empty())
                .count();
            assert_eq!(
                (n_pings, heartbeat.slots.iter().map(Vec::len).sum::<usize>()),
                (0, 0)
            );
        }
    }
}
