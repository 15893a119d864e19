//! The outcome of a run.

use std::time::{Duration, SystemTime};

use plimsoll_load::generator::Health;
use plimsoll_report::{
    percentile,
    summary::{Losses, Target, Threshold},
};

use super::{
    cost::Costs,
    options::{Protocol, RecoverOptions},
    publisher::Published,
    tally::{Round, Tally},
};
use crate::{journal::Chronicle, meter::Period};

mod summary;

/// Broadcasts that are later than this are told. Reason: a cut lasts seconds, and less does not change which messages a
/// client misses.
const LATE: Duration = Duration::from_millis(500);

/// A whole run.
#[derive(Debug)]
pub struct RecoverOutcome {
    pub(crate) options: RecoverOptions,
    pub(crate) n_workers: usize,
    pub(crate) began: SystemTime,
    pub(crate) elapsed: Duration,
    pub(crate) tally: Tally,
    pub(crate) costs: Costs,
    pub(crate) published: Published,
    pub(crate) chronicle: Chronicle,
    /// The cost of the run.
    pub(crate) period: Period,
    pub(crate) targets: Vec<Target>,
    /// Whether the generator held up the figures.
    pub(crate) health: Health,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) is_interrupted: bool,
}

impl RecoverOutcome {
    /// The sums of all rounds.
    pub(crate) fn totals(&self) -> Round {
        self.tally.all_rounds()
    }

    /// Clients that never became ready.
    pub(crate) fn n_unready(&self) -> u64 {
        (self.options.n_all() as u64).saturating_sub(self.tally.n_opened + self.tally.n_beside_opened)
    }

    /// The counts of messages as an application saw them.
    pub(crate) fn losses(&self) -> Losses {
        let totals = self.totals();
        Losses {
            expected: totals.n_new + totals.n_lost,
            received: totals.n_new,
            lost: totals.n_lost,
            duplicated: totals.n_duplicated,
            out_of_order: totals.n_reordered,
        }
    }

    /// Whether messages were lost, duplicated or reordered, clients or broadcasts failed, or a threshold does not hold.
    pub fn is_faulty(&self) -> bool {
        let is_wrong = |counts: &Round| counts.n_lost + counts.n_duplicated + counts.n_reordered > 0;
        is_wrong(&self.totals())
            || is_wrong(&self.tally.beside)
            || self.tally.n_failed_attempts + self.tally.n_dropped > 0
            || self.published.failures.total() > 0
            || self.thresholds.iter().any(|threshold| !threshold.passed)
    }

    /// Remarks about the figures, in sentences.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let totals = self.totals();
        let mut remarks = vec![self.rule()];
        let n_acknowledged = self.published.rtt.count();
        if n_acknowledged > 0 && totals.n_new == 0 {
            remarks.push(format!(
                "{n_acknowledged} broadcasts were acknowledged and no client received any: check --broadcast-url, and \
                 that the channel of --channel streams from the stream in its identifier"
            ));
        }
        if self.n_unready() > 0 {
            remarks.push(format!(
                "{} of {} clients never became ready; nothing is counted as lost for them",
                self.n_unready(),
                self.options.n_all()
            ));
        }
        let n_failed = self.published.failures.total();
        if n_failed > 0 {
            remarks.push(format!(
                "{n_failed} broadcasts were not acknowledged; they are not counted as lost, because the server may not \
                 have them"
            ));
        }
        if totals.ways.n_refused > 0 {
            remarks.push(format!(
                "the server refused history {} times: it no longer had messages that the client asked for, and said so",
                totals.ways.n_refused
            ));
        }
        if self.tally.n_foreign > 0 {
            remarks.push(format!(
                "{} messages belong to another stream, or to no broadcast of this run",
                self.tally.n_foreign
            ));
        }
        remarks.extend(self.costs.words());
        let latest = self.published.lateness.max();
        if latest >= LATE {
            remarks.push(format!(
                "the rate was not held: broadcasts were sent up to {:.1} s late, because the server acknowledged earlier \
                 ones of their streams so late (p95 {:.3} s)",
                latest.as_secs_f64(),
                percentile(&self.published.lateness, 95.0).as_secs_f64()
            ));
        }
        if self.is_interrupted {
            remarks.push("interrupted before its end".to_owned());
        }
        remarks
    }

    /// How messages are counted.
    fn rule(&self) -> String {
        match self.options.protocol {
            Protocol::Extended => "lost, duplicated and reordered are counted behind the protocol's rule for clients: a \
                                   message whose position is already known is dropped (repeated), and from the return \
                                   until the answer to the request for history messages are put in the order of their \
                                   positions (rearranged)"
                .to_owned(),
            Protocol::Base => "clients of the base protocol ask for nothing when they come back: messages that were \
                               published while they were away are lost"
                .to_owned(),
        }
    }
}
