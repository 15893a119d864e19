//! The counts of a worker since its last report, and their sums.

use std::time::{Duration, Instant};

use plimsoll_load::{causes::Causes, histogram::Histogram};

use super::account::Findings;

/// How a client came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The server restored the session, and replayed the missed messages.
    Resumed,
    /// A new session, and the server replayed the missed messages.
    History,
    /// The server refused the request for history, in either kind of session.
    Refused,
    /// The server did not answer the request for history.
    Unanswered,
    /// No history was asked for: the base protocol.
    Bare,
}

/// The number of returns by their way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ways {
    pub(crate) n_resumed: u64,
    pub(crate) n_history: u64,
    pub(crate) n_refused: u64,
    pub(crate) n_unanswered: u64,
    pub(crate) n_bare: u64,
}

/// The counts of one round: what happened between a client's return and its next cut. Round 0 is before the first cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Round {
    /// Planned cuts that began this round.
    pub(crate) n_cuts: u64,
    pub(crate) ways: Ways,
    /// Returns after which the client had all messages that it had missed.
    pub(crate) n_whole: u64,
    pub(crate) n_new: u64,
    pub(crate) n_repeated: u64,
    pub(crate) n_duplicated: u64,
    pub(crate) n_reordered: u64,
    pub(crate) n_rearranged: u64,
    /// Messages of this round that the client never got; known at the end of the run. Of clients beside the others only
    /// those that were published while the client was connected.
    pub(crate) n_lost: u64,
    /// Messages that were published while a client beside the others was away; known at the end of the run.
    pub(crate) n_missed: u64,
}

/// Counts and times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Clients that became ready for the first time.
    pub(crate) n_opened: u64,
    /// Attempts to connect.
    pub(crate) n_attempts: u64,
    /// Attempts that failed, those of the beginning, too.
    pub(crate) n_failed_attempts: u64,
    /// Connections that the server or the network ended.
    pub(crate) n_dropped: u64,
    /// Returns that ended, whole or not.
    pub(crate) n_returns: u64,
    /// Returns that ended without all messages.
    pub(crate) n_incomplete: u64,
    /// Messages that belong to no broadcast of this run.
    pub(crate) n_foreign: u64,
    pub(crate) rounds: Vec<Round>,
    /// The counts of clients of the base protocol beside the others.
    pub(crate) beside: Round,
    /// Those of them that became ready.
    pub(crate) n_beside_opened: u64,
    /// From the first TCP connect until subscribed.
    pub(crate) connect: Histogram,
    /// From the begin of a return until the client is subscribed again.
    pub(crate) reconnect: Histogram,
    /// From the begin of a return until the client has all messages.
    pub(crate) recovery: Histogram,
    /// Why attempts failed, connections were dropped, and returns stayed incomplete.
    pub(crate) failures: Causes,
    /// The arrival of the last new message.
    pub(crate) last_new: Option<Instant>,
}

impl Ways {
    pub(crate) fn add(&mut self, way: Way) {
        *match way {
            Way::Resumed => &mut self.n_resumed,
            Way::History => &mut self.n_history,
            Way::Refused => &mut self.n_refused,
            Way::Unanswered => &mut self.n_unanswered,
            Way::Bare => &mut self.n_bare,
        } += 1;
    }

    /// All returns.
    pub(crate) fn total(&self) -> u64 {
        self.n_resumed + self.n_history + self.n_refused + self.n_unanswered + self.n_bare
    }

    fn merge(&mut self, other: &Self) {
        self.n_resumed += other.n_resumed;
        self.n_history += other.n_history;
        self.n_refused += other.n_refused;
        self.n_unanswered += other.n_unanswered;
        self.n_bare += other.n_bare;
    }
}

impl Round {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.n_cuts += other.n_cuts;
        self.ways.merge(&other.ways);
        self.n_whole += other.n_whole;
        self.n_new += other.n_new;
        self.n_repeated += other.n_repeated;
        self.n_duplicated += other.n_duplicated;
        self.n_reordered += other.n_reordered;
        self.n_rearranged += other.n_rearranged;
        self.n_lost += other.n_lost;
        self.n_missed += other.n_missed;
    }
}

impl Tally {
    /// The counts of this round.
    pub(crate) fn round(&mut self, round: usize) -> &mut Round {
        if self.rounds.len() <= round {
            self.rounds.resize(round + 1, Round::default());
        }
        &mut self.rounds[round]
    }

    /// The sum of all rounds.
    pub(crate) fn all_rounds(&self) -> Round {
        let mut sum = Round::default();
        self.rounds.iter().for_each(|round| sum.merge(round));
        sum
    }

    /// The counts of a client in this round, or of all clients beside the others.
    pub(crate) fn side(&mut self, is_beside: bool, round: usize) -> &mut Round {
        if is_beside {
            &mut self.beside
        } else {
            self.round(round)
        }
    }

    /// Messages have arrived in this round, the last one at this instant. Returns of clients beside the others are not
    /// timed: they ask for nothing.
    pub(crate) fn add(&mut self, is_beside: bool, round: usize, findings: Findings, at: Instant) {
        let Findings {
            n_new,
            n_repeated,
            n_duplicated,
            n_reordered,
            n_rearranged,
            recovery,
        } = findings;
        if n_new > 0 {
            self.last_new = self.last_new.max(Some(at));
        }
        if let Some(recovery) = recovery {
            self.recovery.record(recovery);
            self.n_returns += 1;
        }
        self.side(is_beside, round).merge(&Round {
            n_whole: u64::from(recovery.is_some()),
            n_new,
            n_repeated,
            n_duplicated,
            n_reordered,
            n_rearranged,
            ..Round::default()
        });
    }

    /// Something failed `at` this time of the run.
    pub(crate) fn fail(&mut self, cause: &str, example: &str, at: Duration) {
        self.failures.add(cause, example, 1, at);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.n_opened += other.n_opened;
        self.n_attempts += other.n_attempts;
        self.n_failed_attempts += other.n_failed_attempts;
        self.n_dropped += other.n_dropped;
        self.n_returns += other.n_returns;
        self.n_incomplete += other.n_incomplete;
        self.n_foreign += other.n_foreign;
        for (idx, round) in other.rounds.iter().enumerate() {
            self.round(idx).merge(round);
        }
        self.beside.merge(&other.beside);
        self.n_beside_opened += other.n_beside_opened;
        self.connect.merge(&other.connect);
        self.reconnect.merge(&other.reconnect);
        self.recovery.merge(&other.recovery);
        self.failures.merge(&other.failures);
        self.last_new = self.last_new.max(other.last_new);
    }
}
