//! What is done with each message at the moment of its arrival.

use std::{collections::VecDeque, time::Instant};

use plimsoll_clients::{
    inbox::{Capacity, HeapBytes, Inbox, Overflow},
    websocket::Recipient,
};
use plimsoll_load::metrics::Recorder;
use plimsoll_websocket::Event;

use super::round_trips::RoundTrips;
use crate::artillery::metrics::Metrics;

/// Messages that are kept for steps to come. Reason: far more than a scenario reads; a server that sends without end
/// must not fill the memory. The oldest gives way.
const INBOX: Capacity = Capacity {
    n_messages: 1_000,
    n_bytes: 1 << 20,
    overflow: Overflow::DropOldest,
};

/// A message, and when it was read.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) at: Instant,
    pub(super) body: Box<[u8]>,
}

impl HeapBytes for Arrival {
    fn heap_bytes(&self) -> usize {
        self.body.len()
    }
}

/// Counts and times messages, and dispatches them.
#[derive(Debug)]
pub(super) struct Reception<'a> {
    pub(super) metrics: &'a Metrics,
    pub(super) recorder: Recorder,
    trips: RoundTrips,
    /// Messages for the waiting step, at most as many as it still needs. Further ones go to the inbox.
    arrivals: VecDeque<Arrival>,
    n_wanted: usize,
    inbox: Option<Inbox<Arrival>>,
}

impl<'a> Reception<'a> {
    pub(super) fn new(metrics: &'a Metrics, recorder: Recorder, has_inbox: bool) -> Self {
        Self {
            metrics,
            recorder,
            trips: RoundTrips::default(),
            arrivals: VecDeque::new(),
            n_wanted: 0,
            inbox: has_inbox.then(|| Inbox::new(INBOX)),
        }
    }

    /// Records a sent message without an expected answer.
    pub(super) fn sent(&mut self, payload: &[u8], at: Instant) {
        if !self.trips.sent(payload, at) {
            self.recorder.count(self.metrics.untimed, 1);
        }
    }

    /// The next `n` messages are for a step.
    pub(super) fn want(&mut self, n: u32) {
        self.arrivals.clear();
        self.n_wanted = n as usize;
    }

    /// The step has ended.
    pub(super) fn want_no_more(&mut self) {
        self.want(0);
    }

    /// The next message for the step.
    pub(super) fn next(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    /// The inbox of messages that no step has taken.
    pub(super) fn inbox(&mut self) -> Option<&mut Inbox<Arrival>> {
        self.inbox.as_mut()
    }

    /// Records an answer that arrived at this time.
    pub(super) fn time(&self, arrived: Instant, sent: Instant) {
        let time = arrived.saturating_duration_since(sent);
        self.recorder.record(self.metrics.response_time, time);
    }
}

impl Recipient for Reception<'_> {
    fn put(&mut self, at: Instant, event: Event<'_>) {
        let body = match event {
            Event::Text(text) => text.as_bytes(),
            Event::Binary(bytes) => bytes,
            Event::Ping(_) | Event::Pong(_) | Event::Close(_) => return,
        };
        self.recorder.count(self.metrics.websocket.msgs_received, 1);
        if let Some(trip) = self.trips.received(body, at) {
            self.recorder.record(self.metrics.response_time, trip);
        }
        let arrival = || Arrival {
            at,
            body: body.into(),
        };
        if self.n_wanted > 0 {
            self.n_wanted -= 1;
            self.arrivals.push_back(arrival());
        } else if let Some(inbox) = &mut self.inbox {
            let n_dropped = inbox.push(arrival());
            if n_dropped > 0 {
                self.recorder.count(self.metrics.inbox_dropped, n_dropped);
            }
        }
    }
}
