//! Whether a connection's client is known to be alive (docs/protocols/extended.md, Pings that are answered).

use std::{cell::Cell, num::NonZeroU32};

/// A number of ticks since the start of the shard.
pub(crate) type Tick = NonZeroU32;

/// What a client owes the server: an answer to the first ping since it was heard last.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    must_answer: Cell<bool>,
    unanswered_since: Cell<Option<Tick>>,
    /// Whether the shard's wheel has an entry for the session.
    is_watched: Cell<bool>,
    /// Whether the session's commands are carried out. Meanwhile its socket is not read.
    is_busy: Cell<bool>,
}

/// The state of a client's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// None is missing.
    Given,
    /// It has been missing since this tick.
    MissingSince(Tick),
    /// It may have arrived, but the socket is not read at the moment.
    Unread,
}

impl Liveness {
    /// From now on the client must answer pings.
    pub(crate) fn demand_answers(&self) {
        self.must_answer.set(true);
    }

    /// The client has sent something.
    pub(crate) fn heard(&self) {
        self.unanswered_since.set(None);
    }

    /// The client was pinged. Returns whether the shard must begin to watch it.
    pub(crate) fn pinged(&self, tick: Tick) -> bool {
        if !self.must_answer.get() {
            return false;
        }
        if self.unanswered_since.get().is_none() {
            self.unanswered_since.set(Some(tick));
        }
        !self.is_watched.replace(true)
    }

    /// The session begins or ends to carry out commands.
    pub(crate) fn set_busy(&self, is_busy: bool) {
        self.is_busy.set(is_busy);
        // The client gets its time again: what it has sent meanwhile is not read yet.
        self.heard();
    }

    /// The state of the client's answer.
    pub(crate) fn answer(&self) -> Answer {
        match self.unanswered_since.get() {
            None => Answer::Given,
            Some(_) if self.is_busy.get() => Answer::Unread,
            Some(since) => Answer::MissingSince(since),
        }
    }

    /// The shard has removed its entry.
    pub(crate) fn is_no_longer_watched(&self) {
        self.is_watched.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(number: u32) -> Tick {
        Tick::new(number).expect("not zero")
    }

    #[test]
    fn the_first_ping_that_is_not_answered_counts() {
        let liveness = Liveness::default();
        assert!(!liveness.pinged(tick(1)), "no answer is demanded");
        assert_eq!(liveness.answer(), Answer::Given);
        liveness.demand_answers();
        assert!(liveness.pinged(tick(2)));
        assert!(!liveness.pinged(tick(3)), "it is watched already");
        assert_eq!(liveness.answer(), Answer::MissingSince(tick(2)));
        liveness.heard();
        assert_eq!(liveness.answer(), Answer::Given);
        liveness.pinged(tick(4));
        assert_eq!(liveness.answer(), Answer::MissingSince(tick(4)));
        liveness.is_no_longer_watched();
        assert!(liveness.pinged(tick(5)));
    }

    #[test]
    fn a_client_whose_commands_are_carried_out_is_alive() {
        let liveness = Liveness::default();
        liveness.demand_answers();
        liveness.set_busy(true);
        liveness.pinged(tick(1));
        assert_eq!(liveness.answer(), Answer::Unread);
        liveness.set_busy(false);
        assert_eq!(liveness.answer(), Answer::Given);
    }
}
