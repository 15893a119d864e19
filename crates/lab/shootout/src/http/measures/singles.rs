//! Single samples of `http`, for outputs.

use std::{cell::RefCell, collections::HashMap, sync::Arc, time::Duration};

use plimsoll_clients::http::{Attempt, Url, Version};
use plimsoll_load::metrics::{MetricSet, Outgoing, SampleSender, Tags};

use super::Measures;
use crate::http::{failures::Kind, schedule::Ticket};

/// The common parts of the samples of all workers.
#[derive(Debug)]
pub(crate) struct SampledRequest {
    measures: Measures,
    /// The definitions of the metrics of `measures`.
    metrics: MetricSet,
    queues: Vec<SampleSender>,
    tags: Tags,
}

/// Sends the samples of a worker on.
#[derive(Debug)]
pub(crate) struct Singles {
    outgoing: Outgoing,
    measures: Measures,
    /// The tags of all samples.
    tags: Arc<Tags>,
    /// The tags of samples by the end of their request. There are as many as the server has statuses.
    tags_by_end: RefCell<HashMap<End, Arc<Tags>>>,
}

/// The end of a request: its status, if there was a response, and the failure, if any.
type End = (Option<u16>, Option<FailureName>);

/// ab's name of a kind of failures.
type FailureName = &'static str;

impl SampledRequest {
    /// The common parts of samples for this request and these metrics.
    pub(crate) fn new(
        (measures, metrics): (Measures, MetricSet),
        queues: Vec<SampleSender>,
        (method, version, url): (&str, Version, &Url),
    ) -> Self {
        let protocol = match version {
            Version::Http11 => "HTTP/1.1",
            Version::Http2 => "HTTP/2.0",
        };
        let tags = [
            ("scenario", "http"),
            ("method", method),
            ("proto", protocol),
            ("name", url.as_str()),
            ("url", url.as_str()),
        ];
        Self {
            measures,
            metrics,
            queues,
            tags: tags
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        }
    }

    /// The samples of one worker; `None` when no output needs single samples.
    pub(crate) fn singles(&self) -> Option<Singles> {
        Some(Singles {
            outgoing: Outgoing::of(&self.metrics, self.queues.clone())?,
            measures: self.measures,
            tags: Arc::new(self.tags.clone()),
            tags_by_end: RefCell::default(),
        })
    }
}

impl Singles {
    /// A request that counts has ended. `expected_length`: how long its body must be, if that matters.
    pub(crate) fn note(&self, ticket: Ticket, attempt: &Attempt, expected_length: Option<u64>) {
        let Measures {
            started,
            failed_share,
            latency,
            queueing,
            blocked,
            processing,
            waiting,
            ..
        } = self.measures;
        let timings = &attempt.timings;
        let begin = ticket.due.unwrap_or(timings.started);
        let (status, failure) = match &attempt.outcome {
            Ok(reply) => {
                let is_other = expected_length.is_some_and(|expected| expected != reply.n_body_bytes);
                (Some(reply.status), is_other.then_some(Kind::Length))
            }
            Err(error) => (None, Some(Kind::of(error, attempt.is_connected))),
        };
        let tags = self.tags((status, failure.map(Kind::name)));
        self.outgoing.count(started, 1, &tags);
        self.outgoing.rate(failed_share, failure.is_some(), &tags);
        if status.is_none() {
            return;
        }
        let total = timings.ended.saturating_duration_since(begin);
        let queued = timings.started.saturating_duration_since(begin);
        let times: [(_, Option<Duration>); 5] = [
            (latency, Some(total)),
            (queueing, ticket.due.map(|_| queued)),
            (blocked, Some(timings.blocked)),
            (processing, Some(timings.duration())),
            (waiting, Some(timings.waiting)),
        ];
        for (trend, time) in times {
            time.into_iter()
                .for_each(|time| self.outgoing.record(trend, time, &tags));
        }
    }

    /// Records the end of a second, with the bytes that were sent and received in it.
    pub(crate) fn end_second(&self, n_bytes_sent: u64, n_bytes_received: u64) {
        let Measures { sent, received, .. } = self.measures;
        for (counter, n) in [(sent, n_bytes_sent), (received, n_bytes_received)] {
            if n > 0 {
                self.outgoing.count(counter, n, &self.tags);
            }
        }
        self.outgoing.flush();
    }

    fn tags(&self, end: End) -> Arc<Tags> {
        let mut known = self.tags_by_end.borrow_mut();
        let tags = known.entry(end).or_insert_with(|| {
            let (status, failure) = end;
            let mut tags = Tags::clone(&self.tags);
            if let Some(status) = status {
                tags.insert("status".to_owned(), status.to_string());
            }
            if let Some(failure) = failure {
                tags.insert("error".to_owned(), failure.to_owned());
            }
            Arc::new(tags)
        });
        Arc::clone(tags)
    }
}
