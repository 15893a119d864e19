//! The measures of `recover`, under the names in its summary.

use std::{sync::Arc, time::Duration};

use plimsoll_load::{
    metrics::{Contains, CounterId, MetricSet, Outgoing, Registry, SampleSender, Tags, TrendId},
    run::Stretch,
};

use super::{publisher::Published, tally::Tally};

/// The time from the begin of a return until the client has all messages that it missed.
pub(crate) const RECOVERY: &str = "recovery";
/// The time from the begin of a return until the client is subscribed again.
const RECONNECT: &str = "reconnect";
/// The time from the first TCP connect until a client is subscribed.
const CONNECT: &str = "connect";
/// The time from sending a broadcast to its acknowledgement.
const BROADCAST_RTT: &str = "broadcast_rtt";

const TRENDS: [&str; 4] = [RECOVERY, RECONNECT, CONNECT, BROADCAST_RTT];
const COUNTERS: [&str; 20] = [
    "broadcasts",
    "broadcasts_failed",
    "deliveries",
    "lost",
    "duplicated",
    "reordered",
    "repeated",
    "rearranged",
    "cuts",
    "returns_whole",
    "returns_resumed",
    "returns_history",
    "history_refused",
    "history_unanswered",
    "connections_dropped",
    "base_deliveries",
    "base_missed",
    "base_lost",
    "base_duplicated",
    "base_reordered",
];

/// Handles of all metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measures {
    pub(crate) trends: [TrendId; 4],
    counters: [CounterId; 20],
}

/// Sends the samples of a thread to the outputs.
#[derive(Debug)]
pub(crate) struct Singles {
    outgoing: Outgoing,
    measures: Measures,
    tags: Arc<Tags>,
}

impl Measures {
    /// The handles, and an empty set of their metrics.
    pub(crate) fn new() -> (Self, MetricSet) {
        const PROOF: &str = "all names are valid and different";
        let mut registry = Registry::new();
        let trends = TRENDS.map(|name| registry.trend(name).expect(PROOF));
        let counters = COUNTERS.map(|name| registry.counter(name, Contains::Default).expect(PROOF));
        (Self { trends, counters }, MetricSet::new(Arc::new(registry)))
    }

    /// The names of the metrics that thresholds can use.
    pub(crate) fn names() -> Vec<&'static str> {
        [&TRENDS[..], &COUNTERS[..]].concat()
    }

    /// Adds a worker's report about the second of `at`.
    pub(crate) fn note(&self, second: &mut Stretch, tally: &Tally) {
        second.iterations.n_complete += tally.n_returns;
        second.n_failed += tally.n_incomplete + tally.n_failed_attempts;
        let metrics = &mut second.metrics;
        for (cause, known) in tally.failures.iter() {
            metrics.faults_of(cause, &known.example, known.span.n, known.span.last);
        }
        if let Some(other) = tally.failures.other() {
            metrics.faults_of("other causes", &other.example, other.span.n, other.span.last);
        }
        for idx in 0..tally.n_attempts {
            metrics.connection(idx < tally.n_failed_attempts);
        }
        for (counter, n) in self
            .counters
            .into_iter()
            .zip(counts(&Published::default(), tally))
        {
            metrics.count(counter, n);
        }
        let [recovery, reconnect, connect, _] = self.trends;
        metrics.record_all(recovery, &tally.recovery);
        metrics.record_all(reconnect, &tally.reconnect);
        metrics.record_all(connect, &tally.connect);
    }

    /// Adds broadcasts.
    pub(crate) fn publish(&self, metrics: &mut MetricSet, published: &Published) {
        for (counter, n) in self
            .counters
            .into_iter()
            .zip(counts(published, &Tally::default()))
        {
            metrics.count(counter, n);
        }
        let [.., rtt] = self.trends;
        metrics.record_all(rtt, &published.rtt);
    }
}

/// The values of all counters, in the order of their names.
fn counts(published: &Published, tally: &Tally) -> [u64; 20] {
    let rounds = tally.all_rounds();
    [
        published.n_sent,
        published.failures.total(),
        rounds.n_new,
        rounds.n_lost,
        rounds.n_duplicated,
        rounds.n_reordered,
        rounds.n_repeated,
        rounds.n_rearranged,
        rounds.n_cuts,
        rounds.n_whole,
        rounds.ways.n_resumed,
        rounds.ways.n_history,
        rounds.ways.n_refused,
        rounds.ways.n_unanswered,
        tally.n_dropped,
        tally.beside.n_new,
        tally.beside.n_missed,
        tally.beside.n_lost,
        tally.beside.n_duplicated,
        tally.beside.n_reordered,
    ]
}

impl Singles {
    /// The samples of one thread; `None` when no output takes single samples.
    pub(crate) fn new(
        (measures, metrics): (Measures, &MetricSet),
        queues: Vec<SampleSender>,
        url: &str,
    ) -> Option<Self> {
        let tags = [("scenario", "recover"), ("url", url)];
        let tags: Tags = tags
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        Some(Self {
            outgoing: Outgoing::of(metrics, queues)?,
            measures,
            tags: Arc::new(tags),
        })
    }

    /// A broadcast was acknowledged after this time.
    pub(crate) fn published(&self, rtt: Duration) {
        let [.., trend] = self.measures.trends;
        self.outgoing.record(trend, rtt, &self.tags);
    }

    /// A client became ready after this time, for the first time or again.
    pub(crate) fn connected(&self, is_return: bool, time: Duration) {
        let [_, reconnect, connect, _] = self.measures.trends;
        let trend = if is_return { reconnect } else { connect };
        self.outgoing.record(trend, time, &self.tags);
    }

    /// A client was whole after this time.
    pub(crate) fn recovered(&self, time: Duration) {
        let [recovery, ..] = self.measures.trends;
        self.outgoing.record(recovery, time, &self.tags);
    }

    /// The counts of a second.
    pub(crate) fn end_second(&self, published: &Published, tally: &Tally) {
        for (counter, n) in self.measures.counters.into_iter().zip(counts(published, tally)) {
            if n > 0 {
                self.outgoing.count(counter, n, &self.tags);
            }
        }
        self.outgoing.flush();
    }
}
