//! The samples of one client, recorded while it lives and not when its iteration ends.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Instant,
};

use plimsoll_clients::{
    cable::session::{Channel, Session, Totals},
    dial::Traffic,
};
use plimsoll_load::metrics::{
    Recorder,
    built_in::{Cable, Data, WebSocket},
};

use crate::host::Host;

/// Records the samples of one client. Dropping it records the rest and the duration of the session.
pub(super) struct Meter {
    pub(super) recorder: Recorder,
    /// The recorder without the tags of the client: bytes belong to the virtual user, as in k6.
    user: Recorder,
    websocket: WebSocket,
    data: Data,
    cable: Cable,
    started: Instant,
    traffic: Rc<Traffic>,
    session: RefCell<Option<Session>>,
    recorded: Cell<Totals>,
    /// Subscriptions whose answer has not been recorded.
    unanswered: RefCell<Vec<Channel>>,
    has_ended: Cell<bool>,
    /// Whether a subscription was refused.
    was_refused: Cell<bool>,
    /// Whether a subscription was confirmed.
    was_confirmed: Cell<bool>,
}

impl Meter {
    /// A meter for a client that began to connect at `started`.
    pub(super) fn new(
        host: &Host,
        recorder: Recorder,
        user: Recorder,
        started: Instant,
        traffic: Rc<Traffic>,
    ) -> Rc<Self> {
        let metrics = host.metrics();
        Rc::new(Self {
            recorder,
            user,
            websocket: metrics.websocket,
            data: metrics.data,
            cable: metrics.cable,
            started,
            traffic,
            session: RefCell::default(),
            recorded: Cell::default(),
            unanswered: RefCell::default(),
            has_ended: Cell::new(false),
            was_refused: Cell::new(false),
            was_confirmed: Cell::new(false),
        })
    }

    /// The client has its session.
    pub(super) fn begin(&self, session: &Session) {
        self.session.replace(Some(session.clone()));
    }

    /// A subscription was rejected or not answered. `cause` has the next step. A connection of which no subscription was
    /// confirmed is one of the failed ones.
    pub(super) fn refused(&self, cause: &str, example: &str) {
        self.user.fault(cause, example);
        self.was_refused.set(true);
    }

    /// A subscription was asked for.
    pub(super) fn asked(&self, channel: &Channel) {
        let mut unanswered = self.unanswered.borrow_mut();
        if channel.ack_duration().is_none() && !unanswered.iter().any(|known| known.is(channel)) {
            unanswered.push(channel.clone());
        }
    }

    /// Records the events since the last call.
    pub(super) fn record(&self) {
        self.record_bytes();
        let Some(totals) = self.session.borrow().as_ref().map(Session::totals) else {
            return;
        };
        let recorded = self.recorded.replace(totals);
        self.count(
            self.websocket.msgs_received,
            totals.n_messages_in - recorded.n_messages_in,
        );
        self.count(self.websocket.msgs_sent, totals.n_commands - recorded.n_commands);
        self.unanswered
            .borrow_mut()
            .retain(|channel| !self.record_answer(channel));
    }

    /// The session is over.
    pub(super) fn end(&self) {
        self.record();
        if self.session.borrow().is_some() && !self.has_ended.replace(true) {
            self.recorder
                .record(self.websocket.session_duration, self.started.elapsed());
            if self.was_refused.get() && !self.was_confirmed.get() {
                self.user.connection_lost();
            }
        }
    }

    fn record_bytes(&self) {
        let (n_sent, n_received) = self.traffic.take();
        for (id, n) in [(self.data.sent, n_sent), (self.data.received, n_received)] {
            if n > 0 {
                self.user.count(id, n);
            }
        }
    }

    fn record_answer(&self, channel: &Channel) -> bool {
        let Some(ack) = channel.ack_duration() else {
            return false;
        };
        if channel.is_rejected() {
            self.recorder.count(self.cable.rejected, 1);
        } else {
            self.was_confirmed.set(true);
            self.recorder.record(self.cable.subscribe_duration, ack);
        }
        true
    }

    fn count(&self, id: plimsoll_load::metrics::CounterId, n: u64) {
        if n > 0 {
            self.recorder.count(id, n);
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.end();
    }
}
