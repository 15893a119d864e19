//! The messages of one step as the coordinator sees them: answered or not, arrived everywhere or not. Pure.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use crate::{
    ledger::{Completion, SendTable},
    samples::Samples,
};

/// The messages of one step, by consecutive ids.
#[derive(Debug)]
pub(crate) struct Messages {
    first_id: u64,
    messages: Vec<Message>,
    n_awaited: usize,
    n_answered: usize,
    n_spreading: usize,
    /// All ids up to this one have been answered.
    floor: u64,
}

#[derive(Debug)]
struct Message {
    answer: Answer,
    /// Workers that have not reported it as arrived.
    n_shares_missing: usize,
    n_lost: usize,
    last_at: Option<Instant>,
}

/// How far a broadcast has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// No client was there to get it.
    NotDue,
    /// It reached its last listener at this time.
    Whole(Instant),
    /// It has not reached all listeners.
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Awaited,
    Came(Duration),
    GivenUp(Instant),
}

impl Messages {
    /// The memory of a message, in bytes.
    pub(crate) const BYTES_EACH: usize = size_of::<Message>();

    /// A step whose first message is `first_id`; all earlier ids up to `floor` have been answered.
    pub(crate) fn new(first_id: u64, floor: u64) -> Self {
        Self {
            first_id,
            messages: Vec::new(),
            n_awaited: 0,
            n_answered: 0,
            n_spreading: 0,
            floor,
        }
    }

    /// Adds a message whose arrival `n_shares` workers will report. Returns its id and its floor.
    pub(crate) fn issue(&mut self, n_shares: usize) -> (u64, u64) {
        let id = self.ids().end;
        let answer = Answer::Awaited;
        self.messages.push(Message {
            answer,
            n_shares_missing: n_shares,
            n_lost: 0,
            last_at: None,
        });
        self.n_awaited += 1;
        self.n_spreading += usize::from(n_shares > 0);
        (id, self.floor)
    }

    /// The sender has its answer. False when it was not awaited any more: then it counts as answered after all.
    pub(crate) fn answer(&mut self, id: u64, latency: Duration) -> bool {
        let Some(message) = self.get_mut(id) else {
            return false;
        };
        let before = std::mem::replace(&mut message.answer, Answer::Came(latency));
        self.n_answered += usize::from(!matches!(before, Answer::Came(_)));
        self.n_awaited -= usize::from(before == Answer::Awaited);
        self.raise_floor();
        before == Answer::Awaited
    }

    /// No answer will come or it takes too long, as is found `at` this time. False when it was not awaited.
    pub(crate) fn give_up(&mut self, id: u64, at: Instant) -> bool {
        let Some(message) = self.get_mut(id).filter(|it| it.answer == Answer::Awaited) else {
            return false;
        };
        message.answer = Answer::GivenUp(at);
        self.n_awaited -= 1;
        true
    }

    /// Records that the message was never sent, so that no client waits for it. False when it was not awaited.
    pub(crate) fn cancel(&mut self, id: u64, at: Instant) -> bool {
        if let Some(message) = self.get_mut(id) {
            let n_shares_missing = std::mem::take(&mut message.n_shares_missing);
            self.n_spreading -= usize::from(n_shares_missing > 0);
        }
        self.give_up(id, at)
    }

    /// A worker's share of a broadcast has arrived. Returns when the last listener of all had it, when this was the last
    /// share and it counts as lost for no client.
    pub(crate) fn complete(&mut self, completion: Completion) -> Option<Instant> {
        let message = self.get_mut(completion.id).filter(|it| it.n_shares_missing > 0)?;
        message.n_shares_missing -= 1;
        message.n_lost += completion.n_lost;
        message.last_at = message.last_at.max(completion.last_at);
        let has_arrived = message.n_shares_missing == 0;
        let reached_all_at = message.last_at.filter(|_| has_arrived && message.n_lost == 0);
        self.n_spreading -= usize::from(has_arrived);
        reached_all_at
    }

    /// The ids that have been issued.
    pub(crate) fn ids(&self) -> Range<u64> {
        self.first_id..self.first_id + self.messages.len() as u64
    }

    /// The id up to which all messages have been answered. An unanswered message holds it back for the rest of the
    /// run. Arrivals are then no longer checked for order, to avoid false accusations.
    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    pub(crate) fn n_issued(&self) -> usize {
        self.messages.len()
    }

    /// Issued, not answered.
    pub(crate) fn n_unanswered(&self) -> usize {
        self.n_issued() - self.n_answered
    }

    /// Answered or given up.
    pub(crate) fn n_settled(&self) -> usize {
        self.n_issued() - self.n_awaited
    }

    /// Broadcasts that have not arrived everywhere.
    pub(crate) fn n_spreading(&self) -> usize {
        self.n_spreading
    }

    /// Issued, and neither answered nor given up.
    pub(crate) fn n_awaited(&self) -> usize {
        self.n_awaited
    }

    /// Gives up all answers that are still awaited, `at` this time. Returns their number.
    pub(crate) fn give_up_all(&mut self, at: Instant) -> usize {
        let awaited = self.messages.iter_mut().filter(|it| it.answer == Answer::Awaited);
        awaited.for_each(|it| it.answer = Answer::GivenUp(at));
        std::mem::take(&mut self.n_awaited)
    }

    /// How far a message has got.
    pub(crate) fn arrival(&self, id: u64) -> Arrival {
        match self.get(id) {
            Some(it) if it.n_shares_missing > 0 || it.n_lost > 0 => Arrival::Missing,
            Some(it) => it.last_at.map_or(Arrival::NotDue, Arrival::Whole),
            None => Arrival::NotDue,
        }
    }

    /// The broadcasts that are lost for at least one listener.
    pub(crate) fn missing(&self) -> impl Iterator<Item = u64> {
        let lossy = self.ids().zip(&self.messages).filter(|(_, it)| it.n_lost > 0);
        lossy.map(|(id, _)| id)
    }

    /// The times from each send to its answer.
    pub(crate) fn answers(&self) -> Samples {
        self.latencies().collect()
    }

    /// The times from each send to the arrival at the last listener, for broadcasts that reached all listeners.
    pub(crate) fn last_delivery_times(&self, sent: &SendTable) -> impl Iterator<Item = Duration> {
        let whole = self
            .ids()
            .zip(&self.messages)
            .filter(|(_, it)| it.n_shares_missing == 0 && it.n_lost == 0);
        whole.filter_map(|(id, it)| Some(it.last_at?.saturating_duration_since(sent.sent(id)?.at)))
    }

    /// The time at which each unanswered message was given up; `None` for messages that are still awaited.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = Option<Instant>> {
        self.messages.iter().filter_map(|message| match message.answer {
            Answer::Came(_) => None,
            Answer::Awaited => Some(None),
            Answer::GivenUp(at) => Some(Some(at)),
        })
    }

    fn latencies(&self) -> impl Iterator<Item = Duration> {
        self.messages.iter().filter_map(|message| match message.answer {
            Answer::Came(latency) => Some(latency),
            Answer::Awaited | Answer::GivenUp(_) => None,
        })
    }

    fn raise_floor(&mut self) {
        while self
            .get_mut(self.floor + 1)
            .is_some_and(|it| matches!(it.answer, Answer::Came(_)))
        {
            self.floor += 1;
        }
    }

    fn get(&self, id: u64) -> Option<&Message> {
        self.messages
            .get(usize::try_from(id.checked_sub(self.first_id)?).ok()?)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Message> {
        self.messages
            .get_mut(usize::try_from(id.checked_sub(self.first_id)?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_floor_follows_the_answers_without_gaps() {
        let mut messages = Messages::new(11, 10);
        let issued: Vec<_> = (0..4).map(|_| messages.issue(0)).collect();
        assert_eq!(issued, [(11, 10), (12, 10), (13, 10), (14, 10)]);
        for (id, floor) in [(12, 10), (11, 12), (14, 12), (13, 14)] {
            assert!(messages.answer(id, MS));
            assert_eq!(messages.floor(), floor);
        }
        assert_eq!(messages.issue(0), (15, 14));
    }

    #[test]
    fn a_step_does_not_rise_above_a_gap_in_an_earlier_one() {
        let mut messages = Messages::new(11, 8);
        messages.issue(0);
        messages.answer(11, MS);
        assert_eq!(messages.floor(), 8);
    }

    #[test]
    fn late_answers_are_credited() {
        let mut messages = Messages::new(1, 0);
        messages.issue(0);
        messages.issue(0);
        let at = Instant::now();
        assert!(messages.give_up(1, at) && !messages.give_up(1, at));
        assert_eq!((messages.n_settled(), messages.n_unanswered()), (1, 2));
        assert_eq!(messages.unanswered().collect::<Vec<_>>(), [Some(at), None]);
        assert!(!messages.answer(1, MS), "nobody waited for it");
        assert!(messages.answer(2, MS) && !messages.give_up(2, at));
        assert!(!messages.answer(2, MS), "twice");
        assert_eq!((messages.n_settled(), messages.n_unanswered()), (2, 0));
        assert_eq!(messages.floor(), 2);
    }

    #[test]
    fn what_never_went_out_is_not_waited_for() {
        let mut messages = Messages::new(1, 0);
        messages.issue(2);
        assert_eq!((messages.n_spreading(), messages.n_settled()), (1, 0));
        assert!(messages.cancel(1, Instant::now()));
        assert_eq!(
            (
                messages.n_spreading(),
                messages.n_settled(),
                messages.n_unanswered()
            ),
            (0, 1, 1)
        );
    }

    #[test]
    fn the_last_delivery_is_the_latest_of_all_workers() {
        let epoch = Instant::now();
        let sent = SendTable::new(epoch, 1, 3);
        let mut messages = Messages::new(1, 0);
        for n in 1..=3 {
            let (id, floor) = messages.issue(2);
            sent.mark_sent(id, floor, epoch + n * MS);
        }
        let completion = |id, n_lost, at_ms| Completion {
            id,
            n_lost,
            last_at: Some(epoch + at_ms * MS),
        };
        assert_eq!(messages.complete(completion(1, 0, 9)), None);
        assert_eq!(messages.complete(completion(1, 0, 7)), Some(epoch + 9 * MS));
        assert_eq!(messages.complete(completion(2, 1, 30)), None); // one listener never got it
        assert_eq!(messages.complete(completion(2, 0, 30)), None);
        assert_eq!(messages.complete(completion(3, 0, 30)), None); // one worker still waits
        assert_eq!(messages.n_spreading(), 1);
        let times: Vec<_> = messages.last_delivery_times(&sent).collect();
        assert_eq!(times, [8 * MS]);
        assert_eq!(messages.missing().collect::<Vec<_>>(), [2]);
        let arrivals = [1, 2, 3, 4].map(|id| messages.arrival(id));
        assert_eq!(
            arrivals,
            [
                Arrival::Whole(epoch + 9 * MS),
                Arrival::Missing,
                Arrival::Missing,
                Arrival::NotDue
            ]
        );
    }

    #[test]
    fn what_is_given_up_together_may_still_be_answered() {
        let mut messages = Messages::new(1, 0);
        for _ in 0..3 {
            messages.issue(0);
        }
        messages.answer(1, MS);
        assert_eq!(messages.give_up_all(Instant::now()), 2);
        assert_eq!(
            (
                messages.n_awaited(),
                messages.n_settled(),
                messages.n_unanswered()
            ),
            (0, 3, 2)
        );
        assert!(!messages.answer(2, MS));
        assert_eq!(
            (messages.give_up_all(Instant::now()), messages.n_unanswered()),
            (0, 1)
        );
    }
}
