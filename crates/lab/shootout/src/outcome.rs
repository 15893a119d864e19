//! The outcome of a run.

use std::{
    fmt::Display,
    time::{Duration, SystemTime},
};

use plimsoll_load::{
    causes::Causes,
    generator::{Evidence, Health},
};
use plimsoll_report::{
    Distribution,
    summary::{Plan, Target, Threshold},
};

use crate::{
    in_flight::InFlight,
    journal::Chronicle,
    measures::{DELIVERY, LISTENER_DELIVERY},
    meter::Period,
    options::Model,
    remote::Share,
    samples::Rtt,
    server_type::ServerType,
};

mod summary;

/// The metrics that rest on the times of sends and of arrivals at listeners.
const OF_DELIVERIES: [&str; 2] = [DELIVERY, LISTENER_DELIVERY];

/// The workload of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Messages to everyone.
    Broadcast,
    /// Messages back to their sender.
    Echo,
    /// Connections only.
    Connect,
}

impl Workload {
    /// The name of the workload on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Echo => "echo",
            Self::Connect => "connect",
        }
    }

    /// The title of a run for people: the command, its target, and the number of further servers.
    pub(crate) fn title(self, target: impl Display, n_further: usize) -> String {
        let further = match n_further {
            0 => String::new(),
            1 => " and 1 more server".to_owned(),
            n => format!(" and {n} more servers"),
        };
        format!("bench {} {target}{further}", self.name())
    }
}

/// A whole run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The workload.
    pub workload: Workload,
    /// The plan of the run.
    pub plan: Plan,
    /// Under which conditions.
    pub setting: Setting,
    /// The steps that were finished, or as far as they went.
    pub steps: Vec<Step>,
    /// Further remarks about the figures, in sentences.
    pub messages: Vec<String>,
    /// The time from the first connect to the end of the last step.
    pub elapsed: Duration,
    /// The timeline of this time.
    pub(crate) chronicle: Chronicle,
    /// The evidence about the generator in all steps.
    pub(crate) generator: Evidence,
    /// The resource use of the watched targets in this time.
    pub targets: Vec<Target>,
    /// The results of the thresholds.
    pub thresholds: Vec<Threshold>,
    /// Whether the user ended it.
    pub is_interrupted: bool,
    /// Messages that arrived and that this run did not send.
    pub n_foreign: u64,
    /// The number of answers that no client waited for.
    pub n_stray_answers: u64,
    /// Echoes that came back changed; they count as unanswered.
    pub n_altered: u64,
    /// What each agent did. Empty if this process had the clients.
    pub shares: Vec<Share>,
    /// Why a part of the load is missing; `None` if nothing is.
    pub missing: Option<String>,
}

/// The conditions of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The URL.
    pub target: String,
    /// The URLs of further servers of the cluster.
    pub nodes: Vec<String>,
    /// The type of the server.
    pub server_type: ServerType,
    /// Threads of the generator.
    pub n_workers: usize,
    /// Decides which clients send.
    pub seed: u64,
    /// When messages are sent; `None` in `connect`.
    pub model: Option<Model>,
}

/// One step: connect more clients, then let them work.
#[derive(Debug, Clone)]
pub struct Step {
    /// The end of the step.
    pub time: SystemTime,
    /// Clients that took part. In `connect`: connected so far.
    pub n_clients: usize,
    /// The percentile of [`Rtt::percentile`].
    pub limit_percentile: u8,
    /// websocket-bench's figures: of round trips to the sender, in `connect` of clients. `None` when nothing was answered or
    /// no client connected.
    pub rtt: Option<Rtt>,
    /// The same figures of deliveries to listeners; `None` without deliveries.
    pub delivery: Option<Rtt>,
    /// The connecting.
    pub connect: Connecting,
    /// The work; `None` in `connect`.
    pub sampling: Option<Sampling>,
    /// Clients that had been ready and lost their connections in this step.
    pub drops: Causes,
    /// Whether the generator held up the figures.
    pub health: Health,
}

/// The connects of a step.
#[derive(Debug, Clone)]
pub struct Connecting {
    /// The cost of the connects.
    pub period: Period,
    /// Ready.
    pub n_connected: u64,
    /// The clients that did not become ready, by cause.
    pub failures: Causes,
    /// The time from the TCP connect until ready.
    pub total: Distribution,
    /// The TCP connect.
    pub tcp_connect: Distribution,
    /// The HTTP upgrade.
    pub upgrade: Distribution,
    /// The time from the upgrade to Action Cable's welcome.
    pub welcome: Distribution,
    /// The time from the welcome to the confirmed subscription.
    pub subscribe: Distribution,
}

/// The work of a step.
#[derive(Debug, Clone)]
pub struct Sampling {
    /// The cost from the first send until all deliveries had arrived or the wait was over.
    pub period: Period,
    /// Messages sent.
    pub n_sent: u64,
    /// The number of messages whose sender got no answer.
    pub n_unanswered: u64,
    /// The time from the send to the sender's answer: `broadcastResult`, or the echo.
    pub answer: Distribution,
    /// How late messages of a schedule were sent; `None` in a closed loop.
    pub lateness: Option<Distribution>,
    /// The deliveries to listeners; `None` for echoes.
    pub deliveries: Option<Deliveries>,
}

/// The deliveries of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Deliveries {
    /// The counts.
    pub counts: DeliveryCounts,
    /// The time from the send to each listener. A missing delivery counts with the time that was waited for it.
    pub listener: Distribution,
    /// The time from the send to the last listener. A broadcast that did not reach all listeners counts with the time that
    /// was waited for it.
    pub last_delivery: Distribution,
    /// The shortest time that was waited for a missing delivery: longer times are lower bounds. `None` if nothing is missing.
    pub waited: Option<Duration>,
    /// How many broadcasts were in flight.
    pub in_flight: InFlight,
    /// The part of each server, in the order of their URLs; empty for a single server.
    pub by_node: Vec<NodeDeliveries>,
    /// By how much a time is wrong at most, because the clocks of the agents are not known better. `None`: sender and
    /// listeners have one clock.
    pub uncertainty: Option<Duration>,
}

/// The deliveries of a step to the listeners of one server of a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeDeliveries {
    /// Pairs of a broadcast and a listener that was connected when it was sent.
    pub n_expected: u64,
    /// The number of deliveries that arrived, including late ones.
    pub n_delivered: u64,
    /// The time from the send to each listener. A missing delivery counts with the time that was waited for it.
    pub listener: Distribution,
}

/// Deliveries, counted exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    /// Pairs of a broadcast and a listener that was connected when it was sent.
    pub n_expected: u64,
    /// The number of deliveries that arrived, including late ones.
    pub n_delivered: u64,
    /// The number of deliveries that arrived after the step's wait was over.
    pub n_late: u64,
    /// Second and further arrivals.
    pub n_duplicated: u64,
    /// Arrivals after a broadcast that was sent when they had been acknowledged.
    pub n_out_of_order: u64,
}

impl Outcome {
    /// Whether anything was lost or failed, or a threshold does not hold. Duplicates and reordering are reported and do not
    /// count here: no server of this kind promises their absence.
    pub fn is_faulty(&self) -> bool {
        self.steps.iter().any(Step::is_faulty) || self.thresholds.iter().any(|it| !it.passed)
    }

    /// Whether the generator held up the figures of any step.
    pub fn is_doubtful(&self) -> bool {
        self.steps.iter().any(|step| step.health.doubtful)
    }

    /// Whether the times of deliveries are not known well enough in any step.
    fn hides_times(&self) -> bool {
        self.steps
            .iter()
            .filter_map(Step::deliveries)
            .any(|it| !it.has_times())
    }

    /// Takes away what rests on times that are not known well enough: their thresholds hold nothing.
    pub(crate) fn hide_unknown_times(&mut self) {
        if !self.hides_times() {
            return;
        }
        let sampled = self.steps.iter_mut().filter_map(|step| step.sampling.as_mut());
        for deliveries in sampled.filter_map(|sampling| sampling.deliveries.as_mut()) {
            deliveries.hide_unknown_times();
        }
        let rests = |threshold: &&mut Threshold| OF_DELIVERIES.contains(&threshold.metric.as_str());
        for threshold in self.thresholds.iter_mut().filter(rests) {
            (threshold.value, threshold.passed) = (None, false);
        }
    }

    /// Remarks about the figures, in sentences; the first two have the words of websocket-bench.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(it) = self.deliveries() {
            let n_expected = it.n_expected;
            if it.n_lost() > 0 {
                remarks.push(format!(
                    "Missing received broadcasts: expected {n_expected}, got {}",
                    it.n_delivered
                ));
            }
            if it.n_duplicated > 0 {
                let n_got = it.n_delivered + it.n_duplicated;
                remarks.push(format!(
                    "Extra received broadcasts: expected {n_expected}, got {n_got}"
                ));
            }
        }
        let n_late = self.deliveries().map_or(0, |it| it.n_late);
        let oddities = [
            (
                "deliveries after the end of their step",
                n_late,
                "the lines of their step call them lost, the totals do not; their times are not measured",
            ),
            (
                "messages that this run did not send",
                self.n_foreign,
                "is another load on the same channel?",
            ),
            (
                "answers that no client waited for",
                self.n_stray_answers,
                "repeated ones, or to the wrong client",
            ),
            (
                "echoes that came back changed",
                self.n_altered,
                "they count as unanswered",
            ),
        ];
        let oddities = oddities.iter().filter(|(_, n, _)| *n > 0);
        remarks.extend(oddities.map(|(what, n, comment)| format!("{what}: {n} ({comment})")));
        if self.is_interrupted {
            remarks.push("interrupted before its end".to_owned());
        }
        remarks
    }

    /// The deliveries of all steps together; `None` without broadcasts.
    pub fn deliveries(&self) -> Option<DeliveryCounts> {
        let counts = self
            .steps
            .iter()
            .filter_map(|step| Some(step.deliveries()?.counts));
        counts.reduce(|sum, it| sum.plus(&it))
    }
}

impl Step {
    /// Whether anything was lost or failed in this step.
    pub fn is_faulty(&self) -> bool {
        let n_unanswered = self.sampling.as_ref().map_or(0, |it| it.n_unanswered);
        let n_lost = self.deliveries().map_or(0, |it| it.counts.n_lost());
        self.connect.failures.total() + self.drops.total() + n_unanswered + n_lost > 0
    }

    /// The figures of the first line: of deliveries where there are any, or else of round trips.
    pub fn headline(&self) -> Option<Rtt> {
        self.delivery.or(self.rtt)
    }

    /// The deliveries of this step; `None` without broadcasts.
    pub(crate) fn deliveries(&self) -> Option<&Deliveries> {
        self.sampling.as_ref()?.deliveries.as_ref()
    }
}

/// The largest part of the median by which the times of deliveries may be wrong. Reason: beyond it, two servers that differ
/// look alike.
const MOST_UNCERTAIN: f64 = 0.1;

impl Deliveries {
    /// Whether the times are known well enough to be shown.
    pub fn has_times(&self) -> bool {
        let median_us = self.listener.p50 as f64;
        self.uncertainty
            .is_none_or(|it| it.as_secs_f64() * 1e6 <= median_us * MOST_UNCERTAIN)
    }

    /// Takes away the times that are not known well enough.
    pub(crate) fn hide_unknown_times(&mut self) {
        if !self.has_times() {
            self.listener = Distribution::default();
            self.last_delivery = Distribution::default();
            self.by_node
                .iter_mut()
                .for_each(|node| node.listener = Distribution::default());
        }
    }
}

impl DeliveryCounts {
    /// Expected and not arrived.
    pub fn n_lost(&self) -> u64 {
        // An agent may tell anything.
        self.n_expected.saturating_sub(self.n_delivered)
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            n_expected: self.n_expected + other.n_expected,
            n_delivered: self.n_delivered + other.n_delivered,
            n_late: self.n_late + other.n_late,
            n_duplicated: self.n_duplicated + other.n_duplicated,
            n_out_of_order: self.n_out_of_order + other.n_out_of_order,
        }
    }
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod tests;
