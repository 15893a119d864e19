//! The counts of a worker, and their sum over all workers.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use plimsoll_clients::http::{Attempt, Reply};
use serde::{Deserialize, Serialize};

use super::{
    failures::{Failures, Kind},
    phase::Phase,
    samples::Samples,
    schedule::Ticket,
};

/// Counts and times of requests. The times are those of complete requests.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Requests that count and were started.
    pub(crate) n_started: u64,
    /// Responses that were read whole.
    pub(crate) n_complete: u64,
    /// The number of complete responses with a status outside of 200 to 299.
    pub(crate) n_non_2xx: u64,
    /// The number of complete responses whose connection could take another request.
    pub(crate) n_kept_alive: u64,
    /// Bytes of bodies.
    pub(crate) n_body_bytes: u64,
    /// Requests that went out twice, because the server closed the connection.
    pub(crate) n_repeated: u64,
    /// Requests that were held back, because those before them failed; the warm-up's, too.
    pub(crate) n_held_back: u64,
    /// Complete requests of the warm-up.
    pub(crate) n_warm_up: u64,
    /// Failed requests of the warm-up.
    pub(crate) n_warm_up_failed: u64,
    /// Bytes on the sockets, below TLS.
    pub(crate) n_bytes_sent: u64,
    pub(crate) n_bytes_received: u64,
    pub(crate) failures: Failures,
    /// The time from the scheduled start until a lane claimed the request; only in the open model.
    pub(crate) queueing: Phase,
    /// The time until there was a connection; zero for a kept connection.
    pub(crate) connect: Phase,
    /// The time from there to the end of the response.
    pub(crate) processing: Phase,
    /// The time from the end of the request to the first byte of the response.
    pub(crate) waiting: Phase,
    /// The whole time.
    pub(crate) total: Phase,
    /// The end of the last request.
    #[serde(skip)]
    pub(crate) last_ended: Option<Instant>,
    #[serde(skip)]
    pub(crate) samples: Option<Samples>,
    /// Bodies that wait for the length which all must have.
    #[serde(skip)]
    pub(crate) unjudged: Unjudged,
}

/// The lengths of bodies of complete requests, with their number, as long as the right length is not known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unjudged {
    lengths: BTreeMap<u64, u64>,
    /// Those beyond [`MAX_LENGTHS`].
    n_further: u64,
}

/// The most different lengths. Reason: the right one is known after a round trip to the coordinator, and a server whose
/// first thousands of bodies all differ has hardly any with the right length.
const MAX_LENGTHS: usize = 10_000;

/// Why a request counts as failed although its response is complete.
const OTHER_LENGTH: &str = "another length than the first response";

/// The end of one request.
pub(crate) enum Ending {
    /// The response was read whole; how long that took.
    Complete(Duration),
    /// The request failed.
    Failed,
}

impl Tally {
    /// Notes a request that counts. `expected_length`: how long its body must be, if that matters.
    pub(crate) fn record(
        &mut self,
        ticket: Ticket,
        attempt: &Attempt,
        expected_length: Option<u64>,
    ) -> Ending {
        self.n_started += 1;
        self.n_repeated += u64::from(attempt.is_repeated);
        self.last_ended = self.last_ended.max(Some(attempt.timings.ended));
        match &attempt.outcome {
            Ok(reply) => Ending::Complete(self.complete(ticket, attempt, reply, expected_length)),
            Err(error) => {
                self.failures
                    .count(Kind::of(error, attempt.is_connected), error.words());
                Ending::Failed
            }
        }
    }

    fn complete(
        &mut self,
        ticket: Ticket,
        attempt: &Attempt,
        reply: &Reply,
        expected_length: Option<u64>,
    ) -> Duration {
        self.n_complete += 1;
        self.n_non_2xx += u64::from(!(200..300).contains(&reply.status));
        self.n_kept_alive += u64::from(reply.is_persistent);
        self.n_body_bytes += reply.n_body_bytes;
        if expected_length.is_some_and(|expected| expected != reply.n_body_bytes) {
            self.failures.count(Kind::Length, OTHER_LENGTH.into());
        }
        let timings = &attempt.timings;
        let begin = ticket.due.unwrap_or(timings.started);
        let total = timings.ended.saturating_duration_since(begin);
        if ticket.due.is_some() {
            self.queueing
                .record(timings.started.saturating_duration_since(begin));
        }
        self.connect.record(timings.blocked);
        self.processing.record(timings.duration());
        self.waiting.record(timings.waiting);
        self.total.record(total);
        if let Some(samples) = &mut self.samples {
            samples.record(begin, timings.blocked, total, timings.waiting);
        }
        total
    }

    /// Notes a request of the warm-up.
    pub(crate) fn record_warm_up(&mut self, attempt: &Attempt) {
        match attempt.outcome {
            Ok(_) => self.n_warm_up += 1,
            Err(_) => self.n_warm_up_failed += 1,
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.n_started += other.n_started;
        self.n_complete += other.n_complete;
        self.n_non_2xx += other.n_non_2xx;
        self.n_kept_alive += other.n_kept_alive;
        self.n_body_bytes += other.n_body_bytes;
        self.n_repeated += other.n_repeated;
        self.n_held_back += other.n_held_back;
        self.n_warm_up += other.n_warm_up;
        self.n_warm_up_failed += other.n_warm_up_failed;
        self.n_bytes_sent += other.n_bytes_sent;
        self.n_bytes_received += other.n_bytes_received;
        self.failures.merge(&other.failures);
        self.queueing.merge(&other.queueing);
        self.connect.merge(&other.connect);
        self.processing.merge(&other.processing);
        self.waiting.merge(&other.waiting);
        self.total.merge(&other.total);
        self.last_ended = self.last_ended.max(other.last_ended);
        self.unjudged.merge(other.unjudged);
        match (&mut self.samples, other.samples) {
            (Some(own), Some(other)) => own.merge(other),
            (own, other) => *own = own.take().or(other),
        }
    }

    /// Judges the bodies that waited for the length which all must have.
    pub(crate) fn judge_lengths(&mut self, expected: u64) {
        let Unjudged { lengths, n_further } = std::mem::take(&mut self.unjudged);
        let others = lengths.into_iter().filter(|(length, _)| *length != expected);
        let n_others = others.map(|(_, n)| n).sum::<u64>() + n_further;
        self.failures.add(Kind::Length, OTHER_LENGTH.into(), n_others);
    }

    /// Failures but for length, which are of complete requests.
    pub(crate) fn n_incomplete(&self) -> u64 {
        self.failures.total() - self.failures.of(Kind::Length)
    }
}

impl Unjudged {
    /// A complete request had a body of this length.
    pub(crate) fn add(&mut self, length: u64) {
        self.add_all(length, 1);
    }

    fn merge(&mut self, other: Self) {
        for (length, n) in other.lengths {
            self.add_all(length, n);
        }
        self.n_further += other.n_further;
    }

    fn add_all(&mut self, length: u64, n: u64) {
        if self.lengths.len() < MAX_LENGTHS || self.lengths.contains_key(&length) {
            *self.lengths.entry(length).or_default() += n;
        } else {
            self.n_further += n;
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_clients::http::{HttpError, Timings};

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// A request that started 100 ms after `begin`, connected in 10 ms, and had its answer 20 ms later.
    fn attempt(begin: Instant, status: u16, n_body_bytes: u64) -> Attempt {
        Attempt {
            timings: Timings {
                started: begin + MS(100),
                ended: begin + MS(130),
                blocked: MS(10),
                connecting: MS(10),
                tls_handshaking: MS(0),
                sending: MS(1),
                waiting: MS(15),
                receiving: MS(4),
            },
            is_connected: true,
            is_reused: false,
            is_repeated: false,
            outcome: Ok(Reply {
                status,
                n_body_bytes,
                is_persistent: false,
                details: None,
            }),
        }
    }

    fn times(tally: &Tally) -> [u128; 5] {
        let phases = [
            &tally.queueing,
            &tally.connect,
            &tally.processing,
            &tally.waiting,
            &tally.total,
        ];
        phases.map(|phase| phase.histogram.max().as_millis())
    }

    #[test]
    fn times_count_from_when_a_request_was_due() {
        let begin = Instant::now();
        let check = |due, expected| {
            let mut tally = Tally::default();
            let ticket = Ticket { due, counts: true };
            tally.record(ticket, &attempt(begin, 200, 5), None);
            assert_eq!(times(&tally), expected);
        };
        check(None, [0, 10, 20, 15, 30]);
        check(Some(begin), [100, 10, 20, 15, 130]);
    }

    #[test]
    fn what_is_complete_and_what_has_failed_add_up() {
        let (begin, ticket) = (
            Instant::now(),
            Ticket {
                due: None,
                counts: true,
            },
        );
        let mut tally = Tally::default();
        for (status, n_body_bytes) in [(200, 5), (204, 5), (302, 5), (500, 7)] {
            tally.record(ticket, &attempt(begin, status, n_body_bytes), Some(5));
        }
        let broken = Attempt {
            outcome: Err(HttpError::Ended),
            ..attempt(begin, 200, 5)
        };
        tally.record(ticket, &broken, Some(5));
        let mut twice = tally.clone();
        twice.merge(tally);
        assert_eq!(
            (twice.n_started, twice.n_complete, twice.n_incomplete()),
            (10, 8, 2)
        );
        assert_eq!((twice.n_non_2xx, twice.n_body_bytes), (4, 44));
        assert_eq!((twice.failures.of(Kind::Length), twice.failures.total()), (2, 4));
        assert_eq!(twice.total.histogram.count(), 8);
    }

    #[test]
    fn lengths_that_waited_are_judged_like_the_others() {
        let begin = Instant::now();
        let ticket = Ticket {
            due: None,
            counts: true,
        };
        let lengths = [5, 7, 5, 6, 7, 5];
        let (mut at_once, mut later) = (Tally::default(), [Tally::default(), Tally::default()]);
        for (at, length) in lengths.into_iter().enumerate() {
            let attempt = attempt(begin, 200, length);
            at_once.record(ticket, &attempt, Some(5));
            later[at % 2].record(ticket, &attempt, None);
            later[at % 2].unjudged.add(length);
        }
        let [mut merged, other] = later;
        merged.merge(other);
        assert_eq!(merged.failures.total(), 0);
        merged.judge_lengths(5);
        merged.judge_lengths(6);
        assert_eq!(merged.failures, at_once.failures);
        assert_eq!(merged.failures.of(Kind::Length), 3);
    }

    #[test]
    fn lengths_are_bounded_and_none_is_lost() {
        let mut tally = Tally::default();
        (0..MAX_LENGTHS as u64 + 100).for_each(|length| tally.unjudged.add(length));
        assert_eq!(tally.unjudged.lengths.len(), MAX_LENGTHS);
        tally.judge_lengths(0);
        assert_eq!(tally.failures.total(), MAX_LENGTHS as u64 + 99);
    }
}
