//! A session's state of one subscription.

use std::{
    cell::{Ref, RefCell, RefMut},
    rc::Rc,
    time::{Duration, Instant},
};

use super::{
    MAX_WAITING_BYTES,
    arrival::Listener,
    inbox::Inbox,
    positions::{Positions, Progress},
};

/// The progress of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Asked for; the answer is out.
    Asked,
    /// A wait for the answer timed out.
    Overdue,
    /// Live.
    Confirmed,
    /// Refused.
    Rejected,
    /// Ended by ourselves.
    Unsubscribed,
}

/// A question to the server, at most one at a time per subscription, and its answer.
#[derive(Debug, Default)]
pub(super) enum Inquiry<T> {
    /// Not asked, or the answer was taken.
    #[default]
    None,
    /// Asked at this instant.
    Asked(Instant),
    /// Answered after this time.
    Answered(T, Duration),
}

#[derive(Debug)]
pub(super) struct ChannelState {
    identifier: Rc<str>,
    inner: RefCell<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) stage: Stage,
    pub(super) asked_at: Option<Instant>,
    /// From the question to the answer.
    pub(super) ack: Option<Duration>,
    pub(super) inbox: Inbox,
    pub(super) ignores_reads: bool,
    pub(super) is_observed: bool,
    pub(super) is_presence_observed: bool,
    /// Takes messages instead of the inbox and observers.
    pub(super) listener: Option<Listener>,
    pub(super) n_messages: u64,
    pub(super) last_message_at_ms: Option<u64>,
    pub(super) progress: Progress,
    /// Whether the server sent the requested messages.
    pub(super) history: Inquiry<bool>,
    /// Who is there, as JSON.
    pub(super) presence: Inquiry<Box<str>>,
}

impl<T> Inquiry<T> {
    /// Records an answer. An unexpected answer is dropped.
    pub(super) fn answer(&mut self, answer: T, at: Instant) {
        if let Self::Asked(asked_at) = *self {
            *self = Self::Answered(answer, at.saturating_duration_since(asked_at));
        }
    }

    pub(super) fn take(&mut self) -> Option<(T, Duration)> {
        match std::mem::take(self) {
            Self::Answered(answer, after) => Some((answer, after)),
            other => {
                *self = other;
                None
            }
        }
    }
}

impl ChannelState {
    /// The default, as in k6's cable extension.
    const INBOX_CAPACITY: usize = 2048;

    pub(super) fn new(identifier: &str) -> Self {
        Self {
            identifier: identifier.into(),
            inner: RefCell::new(Inner {
                stage: Stage::Asked,
                asked_at: None,
                ack: None,
                inbox: Inbox::new(Self::INBOX_CAPACITY, MAX_WAITING_BYTES),
                ignores_reads: false,
                is_observed: false,
                is_presence_observed: false,
                listener: None,
                n_messages: 0,
                last_message_at_ms: None,
                progress: Progress::default(),
                history: Inquiry::None,
                presence: Inquiry::None,
            }),
        }
    }

    pub(super) fn identifier(&self) -> Rc<str> {
        Rc::clone(&self.identifier)
    }

    pub(super) fn get(&self) -> Ref<'_, Inner> {
        self.inner.borrow()
    }

    pub(super) fn edit(&self) -> RefMut<'_, Inner> {
        self.inner.borrow_mut()
    }

    pub(super) fn is_full(&self) -> bool {
        let inner = self.get();
        !inner.ignores_reads && inner.inbox.is_full()
    }

    pub(super) fn is_overdue(&self) -> bool {
        self.get().stage == Stage::Overdue
    }

    pub(super) fn ask(&self, at: Instant) {
        let mut inner = self.edit();
        inner.stage = Stage::Asked;
        inner.asked_at = Some(at);
    }

    pub(super) fn answer(&self, stage: Stage, at: Instant) {
        let mut inner = self.edit();
        inner.ack = inner
            .asked_at
            .map(|asked_at| at.saturating_duration_since(asked_at));
        inner.stage = stage;
    }

    pub(super) fn unsubscribe(&self) {
        let mut inner = self.edit();
        inner.stage = Stage::Unsubscribed;
        inner.inbox.clear();
    }

    /// Live from the begin of a resumed session, with the positions of the earlier one.
    pub(super) fn restore(&self, at: Instant, positions: Positions) {
        self.ask(at);
        self.answer(Stage::Confirmed, at);
        self.come_back(positions);
    }

    /// Goes on from the positions of an earlier session.
    pub(super) fn come_back(&self, positions: Positions) {
        self.edit().progress = Progress::behind(positions);
    }

    /// Earlier messages have been asked for.
    pub(super) fn ask_history(&self, at: Instant) {
        let mut inner = self.edit();
        inner.history = Inquiry::Asked(at);
        inner.progress.ask();
    }

    /// The request for earlier messages is answered.
    pub(super) fn answer_history(&self, is_confirmed: bool, at: Instant) {
        let mut inner = self.edit();
        inner.history.answer(is_confirmed, at);
        inner.progress.settle();
    }

    /// The data of the subscription for a later session.
    pub(super) fn resumable(&self) -> Option<(Box<str>, Positions)> {
        let inner = self.get();
        let is_live = inner.stage == Stage::Confirmed;
        is_live.then(|| (self.identifier.as_ref().into(), inner.progress.known().clone()))
    }
}
