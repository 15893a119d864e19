//! Publications in progress, and the sessions still to be flushed for them.
//!
//! Every stream with publications in progress has one *sweep*: a queue of sessions. A publication appends those of its
//! listeners that are not in the queue already, so one visit flushes everything published to the stream since the last
//! one: eight publications in flight cost little more than one. Sweeps take turns, so a stream with many listeners does
//! not hold up one with few.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::{SessionId, shrink, streams::StreamId};

/// All sweeps of a hub. `T` is the ticket that a publication leaves until all its listeners were visited. The caller
/// bounds the number of tickets: it takes no new publications while too many are in progress.
pub(crate) struct Fanouts<T> {
    sweeps: FxHashMap<StreamId, Sweep<T>>,
    turns: VecDeque<StreamId>,
    n_tickets: usize,
}

struct Sweep<T> {
    waiting: VecDeque<SessionId>,
    n_visited: u64,
    /// Tickets with the number of visits that completes each, in ascending order.
    tickets: VecDeque<(u64, T)>,
}

/// Sessions to flush now, and the publications that this completes.
#[derive(Debug)]
pub struct Portion<T> {
    /// The sessions to flush. Some may be gone or have no pending frames.
    pub sessions: Vec<SessionId>,
    /// Tickets of publications that wait for no other session.
    pub completed: Vec<T>,
}

impl<T> Default for Portion<T> {
    fn default() -> Self {
        Self {
            sessions: Vec::new(),
            completed: Vec::new(),
        }
    }
}

impl<T> Default for Fanouts<T> {
    fn default() -> Self {
        Self {
            sweeps: FxHashMap::default(),
            turns: VecDeque::new(),
            n_tickets: 0,
        }
    }
}

impl<T> Fanouts<T> {
    /// Appends sessions to a stream's sweep, and leaves a ticket if any of them has to be visited.
    pub(crate) fn extend(
        &mut self,
        stream: StreamId,
        sessions: impl IntoIterator<Item = SessionId>,
        ticket: T,
    ) {
        let sweep = self.sweeps.entry(stream).or_insert_with(|| {
            self.turns.push_back(stream);
            Sweep {
                waiting: VecDeque::new(),
                n_visited: 0,
                tickets: VecDeque::new(),
            }
        });
        sweep.waiting.extend(sessions);
        if sweep.waiting.is_empty() {
            self.sweeps.remove(&stream);
            self.turns.pop_back();
            return;
        }
        sweep
            .tickets
            .push_back((sweep.n_visited + sweep.waiting.len() as u64, ticket));
        self.n_tickets += 1;
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.sweeps.capacity().max(self.turns.capacity())
    }

    /// Releases the memory that a flood of streams took.
    pub(crate) fn shrink(&mut self) {
        shrink::map(&mut self.sweeps);
        if self.turns.is_empty() {
            self.turns = VecDeque::new();
        }
    }

    pub(crate) fn n_tickets(&self) -> usize {
        self.n_tickets
    }

    pub(crate) fn next_portion(&mut self, max: usize, portion: &mut Portion<T>) {
        portion.sessions.clear();
        portion.completed.clear();
        let Some(stream) = self.turns.pop_front() else {
            return;
        };
        let sweep = self
            .sweeps
            .get_mut(&stream)
            .expect("a sweep has its turn until it is removed");
        portion
            .sessions
            .extend(sweep.waiting.drain(..max.min(sweep.waiting.len())));
        sweep.n_visited += portion.sessions.len() as u64;
        while let Some((_, ticket)) = sweep.tickets.pop_front_if(|(last, _)| *last <= sweep.n_visited) {
            portion.completed.push(ticket);
        }
        self.n_tickets -= portion.completed.len();
        if sweep.waiting.is_empty() {
            self.sweeps.remove(&stream);
        } else {
            self.turns.push_back(stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(serials: std::ops::Range<u32>) -> impl Iterator<Item = SessionId> {
        serials.map(|serial| SessionId::new(0, serial))
    }

    /// The sizes of all portions and the tickets that they complete, until no session is queued.
    fn portions(fanouts: &mut Fanouts<&'static str>) -> Vec<(usize, Vec<&'static str>)> {
        let mut portion = Portion::default();
        let mut all = Vec::new();
        while fanouts.n_tickets() > 0 {
            fanouts.next_portion(256, &mut portion);
            all.push((portion.sessions.len(), portion.completed.clone()));
            assert!(all.len() < 100, "no end: {all:?}");
        }
        all
    }

    #[test]
    fn a_small_stream_does_not_wait_for_a_big_one() {
        let mut fanouts = Fanouts::default();
        fanouts.extend(StreamId::new(0), sessions(0..1000), "big");
        fanouts.extend(StreamId::new(1), sessions(1000..1001), "small");
        fanouts.extend(StreamId::new(2), [], "for nobody");
        assert_eq!(
            portions(&mut fanouts),
            [
                (256, vec![]),
                (1, vec!["small"]),
                (256, vec![]),
                (256, vec![]),
                (232, vec!["big"])
            ]
        );
        assert!(fanouts.sweeps.is_empty() && fanouts.turns.is_empty());
    }

    #[test]
    fn publications_of_one_stream_share_a_sweep() {
        let mut fanouts = Fanouts::default();
        fanouts.extend(StreamId::new(0), sessions(0..300), "first");
        let mut portion = Portion::default();
        fanouts.next_portion(256, &mut portion);
        // The 44 queued sessions get both messages in one visit. Only the others are visited again.
        fanouts.extend(StreamId::new(0), sessions(0..256), "second");
        fanouts.extend(StreamId::new(0), [], "third");
        assert_eq!(
            portions(&mut fanouts),
            [(256, vec!["first"]), (44, vec!["second", "third"])]
        );
    }
}
