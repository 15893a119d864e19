//! The coordinator's knowledge of one agent: what it was ordered and has not answered, and what it did. What an agent tells
//! is checked here: it may be anything.

use std::{collections::VecDeque, time::Duration};

use plimsoll_load::{generator::Evidence, run::Glances};

use super::letter::{Account, Letter};
use crate::{ledger::Standing, worker::Event};

/// The largest count that an agent may tell. Reason: sums of a thousand agents fit into 64 bits.
const MAX_COUNT: u64 = 1 << 53;

/// One agent.
#[derive(Debug)]
pub(super) struct Counterpart {
    /// Letters of the hub itself, which go before all orders of the run that wait.
    pub(super) notes: VecDeque<Letter>,
    /// The clients that each worker was ordered to connect.
    n_opens: Vec<usize>,
    /// Those of all workers that have neither become ready nor failed.
    n_opening: usize,
    owed: Owed,
    /// Whether nothing more comes from it.
    pub(super) is_over: bool,
    /// When it was lost. `None`: it was not.
    pub(super) lost_at: Option<Duration>,
    pub(super) n_clients: usize,
    pub(super) n_most: usize,
    pub(super) n_complete: u64,
    /// Whether attempts to get ready are what it completes.
    counts_openings: bool,
    pub(super) evidence: Evidence,
    pub(super) generator: Glances,
}

/// Answers that are due.
#[derive(Debug, Default)]
struct Owed {
    n_step_opened: usize,
    n_surveyed: usize,
    n_reported: usize,
    n_lapped: usize,
    n_room: usize,
}

impl Counterpart {
    pub(super) fn new(n_workers: usize, counts_openings: bool) -> Self {
        Self {
            notes: VecDeque::new(),
            n_opens: vec![0; n_workers],
            n_opening: 0,
            owed: Owed::default(),
            is_over: false,
            lost_at: None,
            n_clients: 0,
            n_most: 0,
            n_complete: 0,
            counts_openings,
            evidence: Evidence::nothing(),
            generator: Glances::default(),
        }
    }

    /// A letter goes out, whose answer is due from now on.
    pub(super) fn expect(&mut self, letter: &Letter) {
        match letter {
            Letter::Open(worker, ..) => {
                self.n_opens[*worker] += 1;
                self.n_opening += 1;
            }
            Letter::OpenStep(..) => self.owed.n_step_opened += 1,
            Letter::Survey(..) => self.owed.n_surveyed += 1,
            Letter::Report(..) | Letter::CloseStep(..) => self.owed.n_reported += 1,
            Letter::Lap => self.owed.n_lapped += 1,
            Letter::Room(_) => self.owed.n_room += 1,
            Letter::Send(_) | Letter::Collect(..) | Letter::Sent(..) | Letter::Known(_) | Letter::End => {}
        }
    }

    /// The answers that are due and will not come, as if the agent had nothing to tell. `agent` is its number.
    pub(super) fn give_up(&mut self, agent: usize) -> Vec<Event> {
        let owed = std::mem::take(&mut self.owed);
        let mut events = Vec::new();
        let mut add = |n: usize, event: &dyn Fn() -> Event| events.extend((0..n).map(|_| event()));
        add(owed.n_step_opened, &|| Event::StepOpened);
        add(owed.n_surveyed, &|| Event::Surveyed(Standing::default()));
        add(owed.n_reported, &|| Event::Reported(Box::default()));
        add(owed.n_lapped, &|| {
            Event::Lapped(agent, Box::new(Evidence::nothing()))
        });
        add(owed.n_room, &|| Event::Room(agent, None));
        events
    }

    /// Checks what the agent tells, and counts it.
    ///
    /// # Errors
    /// It cannot be: the agent is not what it should be.
    pub(super) fn check(&mut self, account: &Account, n_nodes: usize) -> Result<(), &'static str> {
        match account {
            Account::Opened(worker, slot, _) => {
                self.check_slot(*worker, *slot)?;
                self.end_opening()?;
                self.n_clients += 1;
                self.n_most = self.n_most.max(self.n_clients);
            }
            Account::Unready(_) => self.end_opening()?,
            Account::Dropped(worker, slot, _) => {
                self.check_slot(*worker, *slot)?;
                self.n_clients = self
                    .n_clients
                    .checked_sub(1)
                    .ok_or("more clients left than came")?;
            }
            Account::Answered(..) => self.n_complete += u64::from(!self.counts_openings),
            Account::Completed(_, n_lost, _) => {
                if *n_lost > self.n_opens.iter().sum() {
                    return Err("more listeners than clients");
                }
            }
            Account::StepOpened => settle(&mut self.owed.n_step_opened)?,
            Account::Surveyed(n_expected, n_settled, _) => {
                settle(&mut self.owed.n_surveyed)?;
                check_counts(&[*n_expected, *n_settled])?;
            }
            Account::Reported(report) => {
                settle(&mut self.owed.n_reported)?;
                let tally = &report.tally;
                check_counts(&[
                    tally.n_expected,
                    tally.n_delivered,
                    tally.n_late,
                    tally.n_duplicated,
                    tally.n_out_of_order,
                    tally.harvest.n_delivered,
                    report.n_foreign,
                    report.n_stray_answers,
                    report.n_altered,
                ])?;
                check_nodes(tally.harvest.by_node.len(), n_nodes)?;
            }
            Account::Collected(_, _, harvest) => {
                check_counts(&[harvest.n_delivered])?;
                check_nodes(harvest.by_node.len(), n_nodes)?;
            }
            Account::Glanced(glance) => self.generator.push(*glance),
            Account::Lapped(evidence) => {
                settle(&mut self.owed.n_lapped)?;
                self.evidence.join(evidence);
            }
            Account::Room(_) => settle(&mut self.owed.n_room)?,
            Account::Unanswerable(_) | Account::Sent(..) | Account::SpeaksCable => {}
        }
        Ok(())
    }

    fn check_slot(&self, worker: usize, slot: usize) -> Result<(), &'static str> {
        match self.n_opens.get(worker) {
            Some(&n_opens) if slot < n_opens => Ok(()),
            _ => Err("a client that it does not have"),
        }
    }

    fn end_opening(&mut self) -> Result<(), &'static str> {
        settle(&mut self.n_opening)?;
        self.n_complete += u64::from(self.counts_openings);
        Ok(())
    }
}

/// One of these was due.
fn settle(n_due: &mut usize) -> Result<(), &'static str> {
    *n_due = n_due.checked_sub(1).ok_or("an answer to no question")?;
    Ok(())
}

fn check_counts(counts: &[u64]) -> Result<(), &'static str> {
    if counts.iter().any(|n| *n > MAX_COUNT) {
        return Err("an impossible count");
    }
    Ok(())
}

fn check_nodes(n_told: usize, n_nodes: usize) -> Result<(), &'static str> {
    if n_told > n_nodes {
        return Err("more servers than there are");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(agent: &mut Counterpart, json: &str, expected: Result<(), &str>) {
        let account: Account = serde_json::from_str(json).expect("it reads");
        assert_eq!(agent.check(&account, 2), expected, "{json}");
    }

    #[test]
    fn what_cannot_be_is_noticed() {
        let mut agent = Counterpart::new(2, false);
        let opened = r#"{"opened":[1,0,[1,2,null,null,3]]}"#;
        check(&mut agent, opened, Err("a client that it does not have"));
        agent.expect(&Letter::Open(1, 0, 0));
        check(&mut agent, opened, Ok(()));
        check(&mut agent, opened, Err("an answer to no question"));
        check(
            &mut agent,
            r#"{"opened":[9,0,[1,2,null,null,3]]}"#,
            Err("a client that it does not have"),
        );
        check(
            &mut agent,
            r#"{"completed":[1,2,null]}"#,
            Err("more listeners than clients"),
        );
        check(&mut agent, r#"{"completed":[1,1,null]}"#, Ok(()));
        check(&mut agent, r#""step_opened""#, Err("an answer to no question"));
        agent.expect(&Letter::Survey(0, 0, 1));
        agent.expect(&Letter::Survey(1, 0, 1));
        check(
            &mut agent,
            r#"{"surveyed":[18446744073709551615,0,null]}"#,
            Err("an impossible count"),
        );
        check(&mut agent, r#"{"surveyed":[1,0,null]}"#, Ok(()));
        let harvest = |by_node: &str| {
            format!(
                r#"{{"collected":[0,5,{{"n_delivered":1,"latency":{{}},"missing":{{}},"by_node":[{by_node}]}}]}}"#
            )
        };
        let node = r#"{"n_delivered":0,"latency":{},"missing":{}}"#;
        check(&mut agent, &harvest(&[node; 2].join(",")), Ok(()));
        check(
            &mut agent,
            &harvest(&[node; 3].join(",")),
            Err("more servers than there are"),
        );
        let dropped = r#"{"dropped":[1,0,{"cause":"x","advice":null,"example":"x"}]}"#;
        check(&mut agent, dropped, Ok(()));
        check(&mut agent, dropped, Err("more clients left than came"));
        assert_eq!((agent.n_most, agent.n_clients), (1, 0));
    }

    #[test]
    fn what_is_due_is_given_up_once() {
        let mut agent = Counterpart::new(1, true);
        agent.expect(&Letter::OpenStep(0, 1, 1));
        agent.expect(&Letter::CloseStep(0, 0, 1, 1));
        agent.expect(&Letter::Lap);
        agent.expect(&Letter::Known(1));
        let events = agent.give_up(3);
        assert!(
            matches!(
                events.as_slice(),
                [Event::StepOpened, Event::Reported(_), Event::Lapped(3, _)]
            ),
            "{events:?}"
        );
        assert!(agent.give_up(3).is_empty());
    }
}
