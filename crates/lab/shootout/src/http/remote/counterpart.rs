//! The coordinator's knowledge of one agent. What an agent tells is checked here: it may be anything.

use std::time::Duration;

use plimsoll_load::{generator::Evidence, run::Glances};

use super::letter::{Account, Counted, Ending};
use crate::http::tally::Tally;

/// The largest count that an agent may tell. Reason: sums of a thousand agents fit into 64 bits.
const MAX_COUNT: u64 = 1 << 53;

/// One agent.
#[derive(Debug)]
pub(super) struct Counterpart {
    pub(super) n_lanes: usize,
    /// Whether nothing more comes from it.
    pub(super) is_over: bool,
    /// When it was lost. `None`: it was not.
    pub(super) lost_at: Option<Duration>,
    /// Whether it has told of requests since the last reading.
    pub(super) is_fresh: bool,
    pub(super) n_warm_up: u64,
    pub(super) n_started: u64,
    pub(super) n_abandoned: u64,
    pub(super) n_unsent: u64,
    /// The evidence about its generator. `None` before its end.
    pub(super) evidence: Option<Evidence>,
    pub(super) generator: Glances,
}

impl Counterpart {
    pub(super) fn new(n_lanes: usize) -> Self {
        Self {
            n_lanes,
            is_over: false,
            lost_at: None,
            is_fresh: false,
            n_warm_up: 0,
            n_started: 0,
            n_abandoned: 0,
            n_unsent: 0,
            evidence: None,
            generator: Glances::default(),
        }
    }

    /// Checks what the agent tells, and counts it.
    ///
    /// # Errors
    /// It cannot be: the agent is not what it should be.
    pub(super) fn check(&mut self, account: &Account) -> Result<(), &'static str> {
        if self.evidence.is_some() {
            return Err("something after its end");
        }
        match account {
            Account::WarmingUp(n) => {
                check_counts(&[*n])?;
                self.n_warm_up = self.n_warm_up.max(*n);
            }
            Account::First(document) => check_counts(&[document.n_bytes])?,
            Account::Counted(counted) => self.count(counted)?,
            Account::Glanced(glance) => self.generator.push(*glance),
            Account::Ended(ending) => self.end(ending)?,
            Account::Trouble(_) => {}
        }
        Ok(())
    }

    fn count(&mut self, counted: &Counted) -> Result<(), &'static str> {
        check_tally(&counted.tally)?;
        self.n_started = self.n_started.saturating_add(counted.tally.n_started);
        self.is_fresh = true;
        Ok(())
    }

    fn end(&mut self, ending: &Ending) -> Result<(), &'static str> {
        check_counts(&[ending.n_abandoned, ending.n_unsent])?;
        if ending.n_started != self.n_started {
            return Err("other numbers of requests in its parts than at its end");
        }
        self.n_abandoned = ending.n_abandoned;
        self.n_unsent = ending.n_unsent;
        self.evidence = Some(ending.evidence.clone());
        Ok(())
    }
}

/// The times must be those of the requests, and the requests those that have ended.
fn check_tally(tally: &Tally) -> Result<(), &'static str> {
    check_counts(&[
        tally.n_started,
        tally.n_complete,
        tally.n_kept_alive,
        tally.n_body_bytes,
        tally.n_repeated,
        tally.n_held_back,
        tally.n_warm_up,
        tally.n_warm_up_failed,
        tally.n_bytes_sent,
        tally.n_bytes_received,
        tally.failures.total(),
    ])?;
    let phases = [&tally.connect, &tally.processing, &tally.waiting, &tally.total];
    let has_all_times = phases
        .iter()
        .all(|phase| phase.histogram.count() == tally.n_complete);
    let adds_up = tally.n_started == tally.n_complete + tally.n_incomplete()
        && tally.n_non_2xx <= tally.n_complete
        && tally.queueing.histogram.count() <= tally.n_complete;
    if has_all_times && adds_up {
        Ok(())
    } else {
        Err("requests that do not add up")
    }
}

fn check_counts(counts: &[u64]) -> Result<(), &'static str> {
    if counts.iter().any(|n| *n > MAX_COUNT) {
        return Err("an impossible count");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{document::Document, failures::Kind};

    fn counted(change: impl FnOnce(&mut Tally)) -> Account {
        let mut tally = Tally {
            n_started: 3,
            n_complete: 2,
            ..Tally::default()
        };
        tally.failures.count(Kind::Receive, "reset".into());
        tally.failures.count(Kind::Length, "longer".into());
        for ms in [5, 7] {
            let phases = [
                &mut tally.connect,
                &mut tally.processing,
                &mut tally.waiting,
                &mut tally.total,
            ];
            phases
                .into_iter()
                .for_each(|phase| phase.record(Duration::from_millis(ms)));
        }
        change(&mut tally);
        Account::Counted(Box::new(Counted {
            at: 0,
            last_ended: None,
            tally,
        }))
    }

    fn ended(n_started: u64, n_unsent: u64) -> Account {
        Account::Ended(Box::new(Ending {
            n_started,
            n_abandoned: 1,
            n_unsent,
            evidence: Evidence::nothing(),
        }))
    }

    #[test]
    fn what_cannot_be_is_noticed() {
        let mut agent = Counterpart::new(1);
        let mut check = |account: Account, expected: Result<(), &str>| {
            assert_eq!(agent.check(&account), expected, "{account:?}");
        };
        let wrong = Err("requests that do not add up");
        check(counted(|_| {}), Ok(()));
        check(counted(|tally| tally.n_started = 4), wrong);
        check(counted(|tally| tally.n_non_2xx = 3), wrong);
        check(counted(|tally| tally.total.record(Duration::ZERO)), wrong);
        check(
            counted(|tally| tally.n_body_bytes = u64::MAX),
            Err("an impossible count"),
        );
        check(
            Account::First(Document {
                n_bytes: u64::MAX,
                server_software: String::new(),
                tls: None,
            }),
            Err("an impossible count"),
        );
        check(
            ended(6, 0),
            Err("other numbers of requests in its parts than at its end"),
        );
        check(ended(3, u64::MAX), Err("an impossible count"));
        check(ended(3, 2), Ok(()));
        check(counted(|_| {}), Err("something after its end"));
        assert_eq!((agent.n_started, agent.n_abandoned, agent.n_unsent), (3, 1, 2));
    }
}
