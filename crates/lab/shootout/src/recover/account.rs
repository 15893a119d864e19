//! The account of one client: which messages of its stream it has, and what was wrong with them. Pure.
//!
//! A client of the extended protocol follows the protocol's own rule (docs/protocols/extended.md, Positions):
//!
//! * A message whose position the client already has is a repetition, and is dropped.
//! * From the return until the answer to the request for history, messages wait, and are then taken in the order of their
//!   positions. Reason: a resumed session is live before the client can ask for what it missed.
//!
//! Lost, duplicated and reordered messages are counted behind this rule, as an application would see them. The rule's own
//! work is counted, too. A client of the base protocol has no rule.

use std::{
    ops::RangeInclusive,
    time::{Duration, Instant},
};

use super::ranges::Ranges;

/// The account of a client.
#[derive(Debug, Default)]
pub(crate) struct Account {
    follows_positions: bool,
    /// The numbers of the messages that the application has.
    numbers: Ranges,
    /// The highest of them.
    highest: u64,
    /// The offsets that it has, by epoch.
    positions: Vec<(Box<str>, Ranges)>,
    /// Messages that wait for the answer to the request for history; `None` when none is awaited.
    held: Option<Vec<Held>>,
    /// The return under way; `None` when the client has all messages up to its last return.
    open: Option<Return>,
    /// The last number that a return had to bring: later ones belong to the next return.
    floor: u64,
    /// The numbers of messages that were published while the client was not connected.
    away: Ranges,
}

/// A message that waits.
#[derive(Debug)]
struct Held {
    number: u64,
    /// The index of the epoch, and the offset.
    position: Option<(usize, u64)>,
    at: Instant,
}

/// A client that comes back.
#[derive(Debug)]
struct Return {
    /// When it began to reconnect.
    started: Instant,
    /// The messages that it must get to be whole.
    needs: RangeInclusive<u64>,
    /// Those among them that may never have been published.
    excused: Vec<u64>,
    is_answered: bool,
}

/// What a message was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Messages that the application got, each counted once.
    pub(crate) n_new: u64,
    /// Messages whose position the client already had.
    pub(crate) n_repeated: u64,
    /// Messages that the application got again.
    pub(crate) n_duplicated: u64,
    /// Messages that the application got after a later one.
    pub(crate) n_reordered: u64,
    /// Messages of a replay that arrived after a later one and were put in order.
    pub(crate) n_rearranged: u64,
    /// The time from the begin of the return until the client was whole, at the message that made it so.
    pub(crate) recovery: Option<Duration>,
}

/// The most epochs that an account remembers. Reason: a server that names ever new ones must not fill the memory. Messages
/// of further epochs have no position.
const MAX_EPOCHS: usize = 64;

/// The most messages that wait for an answer. When it is reached, the client takes them. Reason: far more than a server
/// keeps of a stream.
const MAX_HELD: usize = 65_536;

impl Account {
    /// The account of a client that has no message. `follows_positions`: it speaks the extended protocol.
    pub(crate) fn new(follows_positions: bool) -> Self {
        Self {
            follows_positions,
            ..Self::default()
        }
    }

    /// The message with this number has arrived. `position` is its epoch and offset.
    pub(crate) fn arrive(&mut self, number: u64, position: Option<(&str, u64)>, at: Instant) -> Findings {
        let position = position
            .filter(|_| self.follows_positions)
            .and_then(|(epoch, offset)| Some((self.epoch(epoch)?, offset)));
        let message = Held { number, position, at };
        if let Some(held) = &mut self.held {
            held.push(message);
            if held.len() < MAX_HELD {
                return Findings::default();
            }
            let findings = self.release();
            self.hold();
            return findings;
        }
        let mut findings = Findings::default();
        self.take(&message, &mut findings);
        findings
    }

    /// The client begins to come back at `started`, and needs all messages up to the number `target` to be whole, except
    /// those in `uncertain`, which may never have been published. A return that is already under way goes on.
    pub(crate) fn begin_return(&mut self, started: Instant, target: u64, uncertain: &Ranges) {
        let needs = self.floor + 1..=target.max(self.floor);
        self.open.get_or_insert_with(|| Return {
            started,
            excused: uncertain.iter_in(needs.clone()).collect(),
            needs,
            is_answered: false,
        });
    }

    /// Whether a return is under way.
    pub(crate) fn is_returning(&self) -> bool {
        self.open.is_some()
    }

    /// Holds messages from now on, until [`Self::answered`].
    pub(crate) fn hold(&mut self) {
        if self.follows_positions {
            self.held.get_or_insert_default();
        }
    }

    /// Takes all messages that are held, in the order of their positions: the request for history is answered, or the
    /// connection is over.
    pub(crate) fn release(&mut self) -> Findings {
        let mut findings = Findings::default();
        let mut held = self.held.take().unwrap_or_default();
        let mut newest = None;
        for message in held.iter().filter(|message| message.position.is_some()) {
            findings.n_rearranged += u64::from(newest > Some(message.position));
            newest = newest.max(Some(message.position));
        }
        // Messages without a position, which no replay has, come last; the sort is stable.
        held.sort_by_key(|message| message.position.map_or((1, (0, 0)), |position| (0, position)));
        for message in &held {
            self.take(message, &mut findings);
        }
        findings
    }

    /// The server has answered all requests of the return at this instant, whatever the answer was.
    pub(crate) fn answered(&mut self, at: Instant) -> Findings {
        let mut findings = self.release();
        if let Some(open) = &mut self.open {
            open.is_answered = true;
        }
        findings.recovery = self.conclude(at);
        findings
    }

    /// Ends a return that did not bring all messages. Returns whether there was one.
    pub(crate) fn give_up(&mut self) -> bool {
        let open = self.open.take();
        if let Some(open) = &open {
            self.floor = self.floor.max(*open.needs.end());
        }
        open.is_some()
    }

    /// The highest number that the application has.
    pub(crate) fn highest(&self) -> u64 {
        self.highest
    }

    /// Messages with these numbers were published while the client was not connected.
    pub(crate) fn was_away(&mut self, numbers: RangeInclusive<u64>) {
        for number in numbers {
            self.away.insert(number);
        }
    }

    /// How many of these messages the client does not have and were published while it was not connected, without those
    /// in `uncertain`, which may never have been published.
    pub(crate) fn n_missed(&self, numbers: RangeInclusive<u64>, uncertain: &Ranges) -> u64 {
        let missed = self.away.iter_in(numbers);
        let missed = missed.filter(|number| !self.numbers.contains(*number) && !uncertain.contains(*number));
        missed.count() as u64
    }

    /// How many of these messages the client does not have, without those in `uncertain`, which may never have been
    /// published.
    pub(crate) fn n_missing(&self, numbers: RangeInclusive<u64>, uncertain: &Ranges) -> u64 {
        let (first, last) = (*numbers.start(), *numbers.end());
        if first > last {
            return 0;
        }
        let unknown = uncertain.iter_in(numbers.clone());
        let n_excused = unknown.filter(|number| !self.numbers.contains(*number)).count() as u64;
        last - first + 1 - self.numbers.count_in(numbers) - n_excused
    }

    fn take(&mut self, message: &Held, findings: &mut Findings) {
        if let Some((epoch, offset)) = message.position
            && !self.positions[epoch].1.insert(offset)
        {
            findings.n_repeated += 1;
            return;
        }
        if !self.numbers.insert(message.number) {
            findings.n_duplicated += 1;
            return;
        }
        findings.n_new += 1;
        findings.n_reordered += u64::from(message.number < self.highest);
        self.highest = self.highest.max(message.number);
        findings.recovery = findings.recovery.or(self.conclude(message.at));
    }

    /// Ends the return if it is answered and nothing is missing.
    fn conclude(&mut self, at: Instant) -> Option<Duration> {
        let open = self.open.take_if(|open| {
            let n_needed = (*open.needs.end() + 1).saturating_sub(*open.needs.start());
            let is_absent = |number: &&u64| !self.numbers.contains(**number);
            let n_excused = open.excused.iter().filter(is_absent).count() as u64;
            open.is_answered && self.numbers.count_in(open.needs.clone()) + n_excused == n_needed
        })?;
        self.floor = self.floor.max(*open.needs.end());
        Some(at.saturating_duration_since(open.started))
    }

    fn epoch(&mut self, epoch: &str) -> Option<usize> {
        let known = self.positions.iter().position(|(known, _)| **known == *epoch);
        if known.is_none() && self.positions.len() < MAX_EPOCHS {
            self.positions.push((epoch.into(), Ranges::default()));
            return Some(self.positions.len() - 1);
        }
        known
    }
}

#[cfg(test)]
mod tests;
