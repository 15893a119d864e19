//! Finds the clients that do not answer pings: a wheel of slots for a whole shard, which has one entry for each session
//! that is watched. A client that answers costs nothing but the one entry.

use plimsoll_hub::SessionId;
use tokio::time::Duration;

use crate::liveness::{Answer, Tick};

/// Sessions by the tick at which their answers are looked at.
#[derive(Debug)]
pub(crate) struct Pongs {
    /// The ticks in which a client must answer.
    n_ticks: u32,
    slots: Vec<Vec<SessionId>>,
    /// Ticks since the start. The counter lasts thirteen years.
    tick: Tick,
}

impl Pongs {
    /// A wheel for clients that must answer within `timeout`. It advances once in `tick`.
    pub(crate) fn new(timeout: Duration, tick: Duration) -> Self {
        let n_ticks = u32::try_from(timeout.as_millis().div_ceil(tick.as_millis().max(1)));
        let n_ticks = n_ticks.unwrap_or(u32::MAX - 1).max(1);
        Self {
            n_ticks,
            slots: (0..=n_ticks).map(|_| Vec::new()).collect(),
            tick: Tick::MIN,
        }
    }

    /// The current tick.
    pub(crate) fn now(&self) -> Tick {
        self.tick
    }

    /// Looks at the session's answer when its time is over.
    pub(crate) fn watch(&mut self, session: SessionId) {
        self.insert(session, self.tick.saturating_add(self.n_ticks));
    }

    /// Advances by one tick, and returns the sessions whose clients have not answered in time. `answer` has the state
    /// of a session's answer, and `None` if the session is gone; a session that does not owe an answer is no longer
    /// watched.
    pub(crate) fn advance(&mut self, answer: impl Fn(SessionId) -> Option<Answer>) -> Vec<SessionId> {
        self.tick = self.tick.saturating_add(1);
        let slot = self.slot(self.tick);
        let mut late = Vec::new();
        for session in std::mem::take(&mut self.slots[slot]) {
            match answer(session) {
                None | Some(Answer::Given) => {}
                Some(Answer::Unread) => self.watch(session),
                Some(Answer::MissingSince(since)) => {
                    let ends_at = since.saturating_add(self.n_ticks);
                    if ends_at <= self.tick {
                        late.push(session);
                    } else {
                        self.insert(session, ends_at);
                    }
                }
            }
        }
        late
    }

    /// `tick` is at most `n_ticks` away, so it is the only one of its slot.
    fn insert(&mut self, session: SessionId, tick: Tick) {
        let slot = self.slot(tick);
        self.slots[slot].push(session);
    }

    fn slot(&self, tick: Tick) -> usize {
        tick.get() as usize % self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use plimsoll_hub::{Budget, Format, Hub};

    use super::*;
    use crate::liveness::Liveness;

    const TICK: Duration = Duration::from_millis(100);

    /// What happens at a tick.
    #[derive(Clone, Copy)]
    enum Event {
        Ping,
        Answer,
        Begin,
        End,
    }

    /// The tick at which a client is late that must answer within a second, in 100 ticks.
    fn late_at(events: &[(u32, Event)]) -> Option<u32> {
        let mut pongs = Pongs::new(10 * TICK, TICK);
        let session = Hub::<()>::new(0, Budget::new(0)).insert((), Format(0));
        let liveness = Liveness::default();
        liveness.demand_answers();
        let n_watched = Cell::new(0_i32);
        for tick in 1..=100 {
            for (_, event) in events.iter().filter(|(at, _)| *at == tick) {
                match event {
                    Event::Ping if liveness.pinged(pongs.now()) => {
                        n_watched.set(n_watched.get() + 1);
                        pongs.watch(session);
                    }
                    Event::Ping => {}
                    Event::Answer => liveness.heard(),
                    Event::Begin => liveness.set_busy(true),
                    Event::End => liveness.set_busy(false),
                }
            }
            let late = pongs.advance(|_| {
                let answer = liveness.answer();
                if answer == Answer::Given {
                    n_watched.set(n_watched.get() - 1);
                    liveness.is_no_longer_watched();
                }
                Some(answer)
            });
            assert!(n_watched.get() <= 1, "one entry for a session");
            let n_entries: usize = pongs.slots.iter().map(Vec::len).sum();
            assert!(n_entries <= 1);
            if !late.is_empty() {
                return Some(tick);
            }
        }
        None
    }

    #[test]
    fn a_client_is_late_one_timeout_behind_the_first_ping_that_it_does_not_answer() {
        use Event::{Answer, Begin, End, Ping};
        for (events, expected) in [
            (&[][..], None),
            (&[(5, Ping)], Some(14)),
            (&[(5, Ping), (8, Ping), (11, Ping)], Some(14)),
            (&[(5, Ping), (13, Answer)], None),
            (&[(5, Ping), (6, Answer), (8, Ping)], Some(17)),
            (
                &[(5, Ping), (6, Answer), (8, Ping), (16, Answer), (40, Ping)],
                Some(49),
            ),
            (&[(5, Ping), (6, Begin), (7, Ping), (60, End)], None),
            (
                &[(5, Ping), (6, Begin), (7, Ping), (60, End), (62, Ping)],
                Some(71),
            ),
        ] {
            assert_eq!(late_at(events), expected);
        }
    }

    #[test]
    fn a_session_that_is_gone_is_forgotten() {
        let mut pongs = Pongs::new(TICK, TICK);
        let session = Hub::<()>::new(0, Budget::new(0)).insert((), Format(0));
        pongs.watch(session);
        for _ in 0..3 {
            assert_eq!(pongs.advance(|_| None), []);
        }
        assert!(pongs.slots.iter().all(Vec::is_empty));
    }
}
