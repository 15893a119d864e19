//! One server's knowledge of the log of one stream, where several servers share the log in a store
//! (docs/reference/redis-broker.md).
//!
//! The store announces each message once, on a connection that may break, be late or be silent. A follower turns these
//! announcements into the log: consecutive messages are delivered. When a message is missing, the follower asks for the
//! range, holds what is announced meanwhile, and goes on behind the range. When the range is gone, or when the store
//! has forgotten messages that it had announced, the listeners are told.
//!
//! The caller does what the steps say, in their order, and reads from the store what they ask for.

use std::{collections::VecDeque, sync::Arc};

/// The most messages that are held while a range is read. Beyond it they are dropped, and read later.
const MAX_HELD: usize = 1000;

/// The most bytes of messages that are held while a range is read.
const MAX_HELD_BYTES: usize = 1 << 20;

/// The latest epochs that are remembered, to recognize a store that has gone back before it renamed a log.
const MAX_FORMER: usize = 8;

/// The latest messages whose times are remembered, to recognize repetitions. A store that has gone back in time is
/// compared with them.
pub const N_RECENT: usize = 256;

/// A message as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<M> {
    /// The epoch of the log.
    pub epoch: Arc<str>,
    /// The number of the message in its log, from 1.
    pub offset: u64,
    /// The time at which the store took the message, in milliseconds of Unix time. Two messages with one epoch and one
    /// offset are the same message if they have the same time.
    pub at_ms: u64,
    /// That time of the message before it; 0 if this is the first one.
    pub before_ms: u64,
    /// The memory of the body, in bytes.
    pub n_bytes: usize,
    /// The message itself.
    pub body: M,
}

/// A place in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The epoch of the log. Empty: the store has no log of the stream.
    pub epoch: Arc<str>,
    /// The offset of the last known message; 0 if there is none.
    pub offset: u64,
    /// The time of that message, in milliseconds of Unix time. `None`: it is not known.
    pub at_ms: Option<u64>,
}

/// The store's answer to [`Step::Read`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt<M> {
    /// The epoch of the log. Empty: there is no log.
    pub epoch: Arc<str>,
    /// The offset of the last message.
    pub top: u64,
    /// The time of that message, in milliseconds of Unix time; 0 if there is none.
    pub top_at_ms: u64,
    /// The epoch that the log had before. Empty: it has its first one.
    pub earlier_epoch: Arc<str>,
    /// The offset behind which the messages begin: that of the request if they follow it, and otherwise the last one
    /// that the log is sure to share with the log of the earlier epoch.
    pub start: u64,
    /// Kept messages in the order of their offsets.
    pub messages: Vec<Message<M>>,
    /// Whether the store has messages behind these.
    pub has_more: bool,
}

/// What the caller has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<M> {
    /// Read the log behind this place, and bring the answer with this number. `None`: read the end of the log.
    Read {
        /// The number of the request.
        number: u64,
        /// The place.
        after: Option<Position>,
    },
    /// The log has this epoch, and is known from behind this offset.
    Begin {
        /// The epoch.
        epoch: Arc<str>,
        /// The offset.
        offset: u64,
        /// The time of the message with this offset, in milliseconds of Unix time. `None`: the offset is 0.
        at_ms: Option<u64>,
    },
    /// Keep a message that the listeners have, or do not need.
    Keep(Message<M>),
    /// Keep a message and deliver it to the listeners.
    Deliver(Message<M>),
    /// Tell the listeners that they may have missed messages.
    Lost,
    /// The stream is heard from here on. Comes once.
    Heard,
}

/// The state of one stream.
#[derive(Debug)]
pub struct Follower<M> {
    phase: Phase,
    /// `None` before the first read.
    position: Option<Position>,
    /// Whether the messages before the first moment of hearing are still being read.
    is_beginning: bool,
    /// Earlier epochs of the log, the latest last.
    former: VecDeque<Arc<str>>,
    /// The end of a range that the listeners may have under another epoch.
    compares_up_to: u64,
    /// Whether the listeners were told that the range may differ.
    has_told: bool,
    n_reads: u64,
    held: VecDeque<Message<M>>,
    held_bytes: usize,
    /// The number of held messages that the awaited answer has.
    n_in_answer: usize,
    has_dropped: bool,
    /// The times of the latest messages. The last one belongs to the position.
    recent: Recent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing is announced to this server.
    Deaf,
    /// The answer with the number of the last request is awaited.
    Reading,
    /// Every message was delivered.
    Live,
}

/// The times of the latest messages of one log, without gaps.
#[derive(Debug, Default)]
struct Recent {
    /// The offset of the last time.
    top: u64,
    times: VecDeque<u64>,
}

impl Recent {
    fn push(&mut self, offset: u64, at_ms: u64) {
        if offset != self.top + 1 {
            self.times.clear();
        }
        self.top = offset;
        self.times.push_back(at_ms);
        if self.times.len() > N_RECENT {
            self.times.pop_front();
        }
    }

    fn index(&self, offset: u64) -> Option<usize> {
        let back = usize::try_from(self.top.checked_sub(offset)?).ok()?;
        self.times.len().checked_sub(back.checked_add(1)?)
    }

    fn get(&self, offset: u64) -> Option<u64> {
        self.times.get(self.index(offset)?).copied()
    }

    fn replace(&mut self, offset: u64, at_ms: u64) {
        if let Some(index) = self.index(offset) {
            self.times[index] = at_ms;
        }
    }

    /// Forgets the times behind this offset.
    fn truncate(&mut self, offset: u64) {
        while self.top > offset && self.times.pop_back().is_some() {
            self.top -= 1;
        }
    }
}

impl<M> Default for Follower<M> {
    fn default() -> Self {
        Self {
            phase: Phase::Deaf,
            position: None,
            is_beginning: true,
            former: VecDeque::new(),
            compares_up_to: 0,
            has_told: false,
            n_reads: 0,
            held: VecDeque::new(),
            held_bytes: 0,
            n_in_answer: 0,
            has_dropped: false,
            recent: Recent::default(),
        }
    }
}

impl<M> Follower<M> {
    /// The last known place. `None` before the first read.
    pub fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    /// Whether every message that was announced is delivered, and further ones are announced.
    pub fn is_live(&self) -> bool {
        self.phase == Phase::Live
    }

    /// From now on the store announces the messages of the stream, for the first time or again.
    pub fn connected(&mut self, steps: &mut Vec<Step<M>>) {
        self.read_on(steps);
    }

    /// The store announces nothing any more.
    pub fn disconnected(&mut self) {
        self.phase = Phase::Deaf;
        self.drop_held();
        self.has_dropped = false;
    }

    /// Asks the store whether a stream that seems silent has had no message.
    pub fn check(&mut self, steps: &mut Vec<Step<M>>) {
        if self.phase == Phase::Live {
            self.read_on(steps);
        }
    }

    /// The store has not answered the request with this number: asks again.
    pub fn failed(&mut self, number: u64, steps: &mut Vec<Step<M>>) {
        if self.phase == Phase::Reading && number == self.n_reads {
            self.read_on(steps);
        }
    }

    /// The store announces a message.
    pub fn arrived(&mut self, message: Message<M>, steps: &mut Vec<Step<M>>) {
        match self.phase {
            Phase::Deaf => {}
            Phase::Reading => self.hold(message),
            Phase::Live => match self.place(&message) {
                Place::Next => self.deliver(message, steps),
                Place::First => {
                    self.begin(&message.epoch, 0, None, steps);
                    self.deliver(message, steps);
                }
                Place::Known => {}
                Place::Elsewhere => {
                    self.hold(message);
                    self.read_on(steps);
                }
            },
        }
    }

    /// The store answers the request with this number. Answers to earlier ones are ignored.
    pub fn read(&mut self, number: u64, excerpt: Excerpt<M>, steps: &mut Vec<Step<M>>) {
        if self.phase != Phase::Reading || number != self.n_reads {
            return;
        }
        let has_more = excerpt.has_more && !excerpt.messages.is_empty();
        if excerpt.epoch.is_empty() {
            self.has_no_log(steps);
        } else {
            self.take(excerpt, has_more, steps);
        }
        if has_more {
            return self.read_on(steps);
        }
        self.phase = Phase::Live;
        if std::mem::take(&mut self.is_beginning) {
            steps.push(Step::Heard);
        }
        let has_dropped = std::mem::take(&mut self.has_dropped);
        let n_in_answer = self.n_in_answer;
        let held = std::mem::take(&mut self.held);
        self.drop_held();
        for message in held.into_iter().skip(n_in_answer) {
            self.arrived(message, steps);
        }
        if has_dropped && self.phase == Phase::Live {
            self.read_on(steps);
        }
    }

    fn place(&self, message: &Message<M>) -> Place {
        let Some(position) = &self.position else {
            return Place::Elsewhere;
        };
        if position.epoch.is_empty() && message.offset == 1 {
            return Place::First;
        }
        if position.epoch != message.epoch || message.offset > position.offset + 1 {
            return Place::Elsewhere;
        }
        if message.offset == position.offset + 1 {
            // Otherwise it follows another message with the same offset.
            let follows = position.at_ms.is_none_or(|at_ms| at_ms == message.before_ms);
            return if follows { Place::Next } else { Place::Elsewhere };
        }
        match self.recent.get(message.offset) {
            Some(at_ms) if at_ms == message.at_ms => Place::Known,
            Some(_) | None => Place::Elsewhere,
        }
    }

    /// The store has no log of the stream. If it had one, its messages are gone, and perhaps others with them.
    fn has_no_log(&mut self, steps: &mut Vec<Step<M>>) {
        let before = self.position.replace(Position {
            epoch: "".into(),
            offset: 0,
            at_ms: None,
        });
        self.compares_up_to = 0;
        self.recent = Recent::default();
        if before.is_some_and(|before| !before.epoch.is_empty()) {
            steps.push(Step::Lost);
        }
    }

    /// Takes a part of the log.
    fn take(&mut self, excerpt: Excerpt<M>, has_more: bool, steps: &mut Vec<Step<M>>) {
        let is_known = self
            .position
            .as_ref()
            .is_some_and(|position| position.epoch == excerpt.epoch);
        if !is_known {
            self.change_epoch(&excerpt, steps);
        }
        let Excerpt {
            epoch,
            top,
            top_at_ms,
            messages,
            ..
        } = excerpt;
        for message in messages {
            let known = self.offset();
            if message.offset <= known {
                continue;
            }
            if message.offset > known + 1 {
                let is_had = message.offset <= self.compares_up_to + 1
                    && self.recent.get(message.offset - 1) == Some(message.before_ms);
                self.skip(&epoch, message.offset - 1, message.before_ms, is_had, steps);
            }
            self.take_one(message, steps);
        }
        if has_more {
            return;
        }
        if self.offset() < top {
            self.skip(&epoch, top, top_at_ms, false, steps);
        }
        self.compares_up_to = 0;
        self.recent.truncate(self.offset());
    }

    /// The log has another epoch than the known one, or is the first that is known.
    fn change_epoch(&mut self, excerpt: &Excerpt<M>, steps: &mut Vec<Step<M>>) {
        let Excerpt {
            epoch, top, start, ..
        } = excerpt;
        let start_at_ms = match excerpt.messages.first() {
            Some(first) if first.offset == start + 1 => Some(first.before_ms),
            _ => (start == top).then_some(excerpt.top_at_ms),
        };
        let before = self.position.take().filter(|before| !before.epoch.is_empty());
        if let Some(before) = before {
            let is_renamed = excerpt.earlier_epoch == before.epoch;
            // A log with its first epoch has no message of another one; but the store may have gone back to that epoch.
            let is_new = excerpt.earlier_epoch.is_empty() && !self.former.contains(epoch);
            self.compares_up_to = if is_new { 0 } else { before.offset };
            if self.former.len() == MAX_FORMER {
                self.former.pop_front();
            }
            self.former.push_back(before.epoch);
            self.has_told = !is_renamed || *top < before.offset;
            if self.has_told {
                steps.push(Step::Lost);
            }
        }
        self.begin(epoch, *start, start_at_ms, steps);
    }

    /// Takes a message of a range that was read.
    fn take_one(&mut self, message: Message<M>, steps: &mut Vec<Step<M>>) {
        let is_compared = message.offset <= self.compares_up_to;
        let is_had = match self.recent.get(message.offset) {
            // The listeners may have another message under this offset.
            Some(at_ms) if is_compared => at_ms == message.at_ms,
            // It is older than what is known, and the listeners have it or were told.
            None if is_compared => true,
            _ => false,
        };
        if self.is_beginning || is_had {
            self.advance(&message);
            return steps.push(Step::Keep(message));
        }
        if is_compared && !std::mem::replace(&mut self.has_told, true) {
            steps.push(Step::Lost);
        }
        self.deliver(message, steps);
    }

    /// The messages up to `offset` are gone; the last of them has this time. `is_had`: the listeners have them.
    fn skip(&mut self, epoch: &Arc<str>, offset: u64, at_ms: u64, is_had: bool, steps: &mut Vec<Step<M>>) {
        if !is_had && !self.is_beginning {
            steps.push(Step::Lost);
        }
        self.begin(epoch, offset, Some(at_ms), steps);
    }

    /// The log is known from behind `offset`, the message with this time.
    fn begin(&mut self, epoch: &Arc<str>, offset: u64, at_ms: Option<u64>, steps: &mut Vec<Step<M>>) {
        let at_ms = at_ms.filter(|_| offset > 0);
        if let Some(at_ms) = at_ms {
            self.remember(offset, at_ms);
        }
        self.position = Some(Position {
            epoch: Arc::clone(epoch),
            offset,
            at_ms,
        });
        steps.push(Step::Begin {
            epoch: Arc::clone(epoch),
            offset,
            at_ms,
        });
    }

    fn deliver(&mut self, message: Message<M>, steps: &mut Vec<Step<M>>) {
        self.advance(&message);
        steps.push(Step::Deliver(message));
    }

    /// Remembers the time of the message at the position.
    fn remember(&mut self, offset: u64, at_ms: u64) {
        if offset > self.compares_up_to {
            self.recent.truncate(offset - 1);
            self.recent.push(offset, at_ms);
        } else {
            // The later times of the earlier log are still needed.
            self.recent.replace(offset, at_ms);
        }
    }

    fn advance(&mut self, message: &Message<M>) {
        self.remember(message.offset, message.at_ms);
        self.position = Some(Position {
            epoch: Arc::clone(&message.epoch),
            offset: message.offset,
            at_ms: Some(message.at_ms),
        });
    }

    fn offset(&self) -> u64 {
        self.position.as_ref().map_or(0, |position| position.offset)
    }

    fn read_on(&mut self, steps: &mut Vec<Step<M>>) {
        self.phase = Phase::Reading;
        self.n_in_answer = self.held.len();
        self.n_reads += 1;
        steps.push(Step::Read {
            number: self.n_reads,
            after: self.position.clone(),
        });
    }

    fn hold(&mut self, message: Message<M>) {
        if self.held.len() >= MAX_HELD || self.held_bytes + message.n_bytes > MAX_HELD_BYTES {
            self.drop_held();
            self.has_dropped = true;
        }
        self.held_bytes += message.n_bytes;
        self.held.push_back(message);
    }

    fn drop_held(&mut self) {
        self.held = VecDeque::new();
        self.held_bytes = 0;
        self.n_in_answer = 0;
    }
}

/// Where an announced message belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Behind the last known message.
    Next,
    /// It begins the log of a stream that had none.
    First,
    /// It is known.
    Known,
    /// Further ahead, in another log, or too far back to be recognized.
    Elsewhere,
}

#[cfg(test)]
mod tests;
