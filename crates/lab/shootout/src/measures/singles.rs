//! Single samples of `broadcast`, `echo` and `connect`, for those who take a run apart themselves.
//!
//! They are what the coordinator hears one by one anyway. Of deliveries it hears sums, so these are a counter here.

use std::{sync::Arc, time::Duration};

use plimsoll_load::metrics::{MetricSet, Outgoing, SampleSender, Tags};

use super::Measures;
use crate::{outcome::Workload, worker::Opening};

/// Sends samples on.
#[derive(Debug)]
pub(crate) struct Singles {
    outgoing: Outgoing,
    measures: Measures,
    /// The tags of the current step.
    tags: Arc<Tags>,
    /// The same tags, and one for what is missing.
    missing_tags: Arc<Tags>,
}

impl Singles {
    /// The single samples of `measures`, whose metrics are `metrics`. `None` when no output needs them.
    pub(crate) fn new(
        measures: Measures,
        metrics: &MetricSet,
        queues: Vec<SampleSender>,
        workload: Workload,
        url: &str,
    ) -> Option<Self> {
        let tags = [("scenario", workload.name()), ("url", url)];
        let tags: Tags = tags
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        Some(Self {
            outgoing: Outgoing::of(metrics, queues)?,
            measures,
            missing_tags: with(&tags, "missing", "true"),
            tags: Arc::new(tags),
        })
    }

    /// Tags the following samples with the number of this step, from 1.
    pub(crate) fn begin_step(&mut self, number: usize) {
        self.tags = with(&self.tags, "step", &number.to_string());
        self.missing_tags = with(&self.tags, "missing", "true");
    }

    /// A client got ready.
    pub(crate) fn opened(&self, opening: &Opening) {
        for (trend, time) in self.measures.times(opening) {
            self.outgoing.record(trend, time, &self.tags);
        }
    }

    /// A message goes out.
    pub(crate) fn sent(&self) {
        self.outgoing.count(self.measures.sent, 1, &self.tags);
    }

    /// The sender has its answer.
    pub(crate) fn answered(&self, latency: Duration) {
        self.outgoing.record(self.measures.rtt, latency, &self.tags);
    }

    /// A broadcast has reached all listeners.
    pub(crate) fn reached_all(&self, latency: Duration) {
        self.outgoing.record(self.measures.delivery, latency, &self.tags);
    }

    /// A broadcast has not reached all listeners in this time.
    pub(crate) fn missed(&self, waited: Duration) {
        self.outgoing
            .record(self.measures.delivery, waited, &self.missing_tags);
    }

    /// So many deliveries and broadcasts are on their way.
    pub(crate) fn in_flight(&self, n_deliveries: u64, n_broadcasts: usize) {
        let levels = [
            (self.measures.deliveries_in_flight, n_deliveries as f64),
            (self.measures.broadcasts_in_flight, n_broadcasts as f64),
        ];
        for (gauge, level) in levels {
            self.outgoing.set(gauge, level, &self.tags);
        }
    }

    /// Records deliveries.
    pub(crate) fn delivered(&self, n: u64) {
        if n > 0 {
            self.outgoing.count(self.measures.deliveries, n, &self.tags);
        }
    }

    /// Records the end of a second with this number of clients.
    pub(crate) fn end_second(&self, n_clients: usize) {
        self.outgoing
            .set(self.measures.users, n_clients as f64, &self.tags);
        self.outgoing.flush();
    }
}

/// These tags and one more.
fn with(tags: &Tags, name: &str, value: &str) -> Arc<Tags> {
    let mut tags = tags.clone();
    tags.insert(name.to_owned(), value.to_owned());
    Arc::new(tags)
}
