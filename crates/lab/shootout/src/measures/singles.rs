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
        Some(Self {
            outgoing: Outgoing::of(metrics, queues)?,
            measures,
            tags: Arc::new(
                tags.map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into(),
            ),
        })
    }

    /// Tags the following samples with the number of this step, from 1.
    pub(crate) fn begin_step(&mut self, number: usize) {
        let mut tags = Tags::clone(&self.tags);
        tags.insert("step".to_owned(), number.to_string());
        self.tags = Arc::new(tags);
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
