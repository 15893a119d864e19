//! The measures of `http`, under the names in its summary: k6's name, where k6 has the measure.

use std::{sync::Arc, time::Duration};

use plimsoll_load::{
    metrics::{Contains, CounterId, MetricSet, Rate, RateId, Registry, TrendId},
    run::Stretch,
};

mod singles;

pub(crate) use self::singles::{SampledRequest, Singles};
use super::tally::Tally;

/// The duration of a whole request. In the open model it starts when the request was due.
pub(super) const LATENCY: &str = "latency";
/// Complete requests.
pub(super) const COMPLETE: &str = "http_reqs_complete";
/// Failed requests.
pub(super) const FAILED: &str = "http_reqs_failed";
/// Their share of all.
pub(super) const FAILED_SHARE: &str = "http_req_failed";
/// Complete requests with another status than 2xx.
pub(super) const NON_2XX: &str = "http_reqs_non_2xx";
/// Their share of the complete ones.
pub(super) const NON_2XX_SHARE: &str = "http_req_non_2xx";

/// Handles of all metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measures {
    started: CounterId,
    complete: CounterId,
    failed: CounterId,
    non_2xx: CounterId,
    sent: CounterId,
    received: CounterId,
    failed_share: RateId,
    non_2xx_share: RateId,
    latency: TrendId,
    queueing: TrendId,
    blocked: TrendId,
    processing: TrendId,
    waiting: TrendId,
}

impl Measures {
    /// The handles, and an empty set of their metrics.
    pub(crate) fn new() -> (Self, MetricSet) {
        const PROOF: &str = "all names are valid and different";
        let mut registry = Registry::new();
        let mut counter = |name, contains| registry.counter(name, contains).expect(PROOF);
        let [started, complete, failed, non_2xx] =
            ["http_reqs", COMPLETE, FAILED, NON_2XX].map(|name| counter(name, Contains::Default));
        let [sent, received] = ["data_sent", "data_received"].map(|name| counter(name, Contains::Data));
        let [failed_share, non_2xx_share] =
            [FAILED_SHARE, NON_2XX_SHARE].map(|name| registry.rate(name).expect(PROOF));
        let mut trend = |name| registry.trend(name).expect(PROOF);
        let measures = Self {
            started,
            complete,
            failed,
            non_2xx,
            sent,
            received,
            failed_share,
            non_2xx_share,
            latency: trend(LATENCY),
            queueing: trend("http_req_queueing"),
            blocked: trend("http_req_blocked"),
            processing: trend("http_req_processing"),
            waiting: trend("http_req_waiting"),
        };
        (measures, MetricSet::new(Arc::new(registry)))
    }

    /// Adds a worker's report about the second of `at`.
    pub(crate) fn note(&self, second: &mut Stretch, tally: &Tally, at: Duration) {
        let n_failed = tally.failures.total();
        second.iterations.n_complete += tally.n_started;
        second.n_failed += n_failed;
        let metrics = &mut second.metrics;
        for (kind, cause, n) in tally.failures.causes() {
            let cause = format!("{}: {cause}", kind.name());
            metrics.faults_of(&cause, &cause, n, at);
        }
        for (counter, n) in [
            (self.started, tally.n_started),
            (self.complete, tally.n_complete),
            (self.failed, n_failed),
            (self.non_2xx, tally.n_non_2xx),
            (self.sent, tally.n_bytes_sent),
            (self.received, tally.n_bytes_received),
        ] {
            metrics.count(counter, n);
        }
        for (rate, n_true, n_total) in [
            (self.failed_share, n_failed, tally.n_started),
            (self.non_2xx_share, tally.n_non_2xx, tally.n_complete),
        ] {
            metrics.rate_all(rate, Rate { n_true, n_total });
        }
        for (trend, phase) in [
            (self.latency, &tally.total),
            (self.queueing, &tally.queueing),
            (self.blocked, &tally.connect),
            (self.processing, &tally.processing),
            (self.waiting, &tally.waiting),
        ] {
            metrics.record_all(trend, &phase.histogram);
        }
    }
}
