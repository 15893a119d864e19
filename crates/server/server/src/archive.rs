//! The history of all streams, which all shards share, and what each shard has seen of it.
//!
//! A message is kept and posted to all mailboxes in one step, under one lock, so every mailbox has the messages in the
//! order of their serial numbers. A shard therefore needs only one number to know which messages it has delivered: the
//! serial number of the last one that it took. A replay on that shard ends there, and what follows comes by the mailbox:
//! when a session enters a stream in the same moment, nothing is missing and nothing comes twice.

use std::{
    cell::Cell,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use plimsoll_broker::{Cursor, History, Outline, Place, Refused, Settings, Start};
use plimsoll_cable::command::HistoryRequest;
use plimsoll_telemetry::{Counter, Registry};
use serde::Serialize;
use tokio::sync::Notify;

use crate::{
    mailbox::{Body, Kept, Outgoing, Payload},
    sid,
    tails::{Tail, Tails},
    unix_time::now_ms,
};

/// Streams that one tick of a shard's timer looks through for old messages: 10,000 a second.
const SWEPT_PER_TICK: usize = 1000;

/// The length of an epoch, in characters of 6 random bits.
const EPOCH_LENGTH: usize = 12;

/// The history of all streams.
#[derive(Debug)]
pub(crate) struct Archive {
    history: Mutex<History<Payload>>,
    /// Readers without a session.
    tails: Arc<Tails>,
    evicted: Counter,
}

/// A shard's view of the archive: the messages that the shard has delivered.
#[derive(Debug)]
pub(crate) struct View {
    archive: Arc<Archive>,
    /// The serial number of the last message that the shard took from its mailbox.
    seen: Cell<u64>,
    advanced: Notify,
}

/// A part of a replay.
#[derive(Debug)]
pub(crate) struct Excerpt {
    pub(crate) messages: Vec<Arc<Kept>>,
    /// Whether the shard has delivered no message behind these.
    pub(crate) is_last: bool,
}

/// The log of a stream, for backends and operators.
#[derive(Debug, Serialize)]
pub(crate) struct StreamState {
    stream: Box<str>,
    epoch: Box<str>,
    /// The offset of the last message.
    offset: u64,
    /// Messages that are kept.
    messages: usize,
    /// The memory of the log.
    bytes: usize,
    /// The time of the last message, in Unix milliseconds.
    last_at_ms: u64,
}

impl From<&Outline> for StreamState {
    fn from(outline: &Outline) -> Self {
        Self {
            stream: outline.label.stream.clone(),
            epoch: outline.label.epoch.clone(),
            offset: outline.top,
            messages: outline.n_entries,
            bytes: outline.n_bytes,
            last_at_ms: outline.last_at_ms,
        }
    }
}

/// Messages of a stream, for a backend.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The log of the stream; `None` if it has none.
    pub(crate) outline: Option<Outline>,
    pub(crate) messages: Vec<Arc<Kept>>,
    /// Whether there are messages behind these.
    pub(crate) has_more: bool,
}

impl Archive {
    pub(crate) fn new(settings: Settings, registry: &Registry) -> Arc<Self> {
        let new_epoch = || sid::generate()[..EPOCH_LENGTH].into();
        let archive = Arc::new(Self {
            history: Mutex::new(History::new(settings, new_epoch)),
            tails: Arc::default(),
            evicted: registry.counter(
                "history_evicted_total",
                "Messages that are no longer kept, because of number, age or memory",
            ),
        });
        let of = |value: fn(plimsoll_broker::Totals) -> f64| {
            let archive = Arc::clone(&archive);
            move || value(archive.lock().totals())
        };
        registry.gauge_fn(
            "history_entries_num",
            "Messages that are kept for clients that ask for earlier ones",
            of(|totals| totals.n_entries as f64),
        );
        registry.gauge_fn(
            "history_streams_num",
            "Streams with a log, which may be empty",
            of(|totals| totals.n_logs as f64),
        );
        registry.gauge_fn(
            "history_bytes",
            "Memory of the logs of all streams",
            of(|totals| totals.n_bytes as f64),
        );
        archive
    }

    /// Keeps a message, and hands it to `post` before any other message can be kept.
    pub(crate) fn keep(&self, mut outgoing: Outgoing, post: impl FnOnce(Outgoing)) {
        self.change(|history| {
            if let Body::Passing(payload) = outgoing.body {
                let n_bytes = payload.len();
                let kept = history.append(&outgoing.stream, payload, n_bytes, now_ms());
                outgoing.body = Body::Kept(kept);
                self.tails.wake(&outgoing.stream);
            }
            post(outgoing);
        });
    }

    /// Keeps a message that has its place from a store, and hands it to `post` with its serial number before anything
    /// else can change.
    pub(crate) fn keep_at(&self, mut outgoing: Outgoing, place: Place<'_>, post: impl FnOnce(Outgoing, u64)) {
        self.change(|history| {
            let Body::Passing(payload) = outgoing.body else {
                return;
            };
            let n_bytes = payload.len();
            let kept = history.append_at(&outgoing.stream, place, payload, n_bytes, now_ms());
            let serial = kept.serial;
            outgoing.body = Body::Kept(kept);
            self.tails.wake(&outgoing.stream);
            post(outgoing, serial);
        });
    }

    /// Begins the log of a stream at a place that it has in a store; hands the serial number of the change to `post`
    /// before anything else can change.
    pub(crate) fn begin_at(&self, stream: &str, place: Place<'_>, post: impl FnOnce(u64)) {
        self.change(|history| post(history.begin_at(stream, place, now_ms())));
    }

    /// Gives `post` a serial number of its own, before anything else can change.
    pub(crate) fn note(&self, post: impl FnOnce(u64)) {
        self.change(|history| post(history.note()));
    }

    /// Begins to watch for messages of a stream.
    pub(crate) fn watch(&self, stream: &str) -> Tail {
        self.tails.watch(stream)
    }

    /// Messages of a stream from `start` on, or all that are kept: at most `n` of them, and about `max_bytes` bytes.
    ///
    /// # Errors
    /// Messages that belong to the answer are not kept.
    pub(crate) fn page(
        &self,
        stream: &str,
        start: Option<Start<'_>>,
        n: usize,
        max_bytes: usize,
    ) -> Result<Page, Refused> {
        let history = self.lock();
        let (now_ms, up_to) = (now_ms(), history.last_serial());
        let outline = history.outline(stream, now_ms);
        let Some(start) = start.or(outline.as_ref().map(|outline| Start::After {
            epoch: &outline.label.epoch,
            offset: outline.before_oldest(),
        })) else {
            return Ok(Page::default());
        };
        let mut cursor = history.begin(stream, start, up_to, now_ms)?;
        let (mut room, mut messages) = (max_bytes, Vec::new());
        let is_last = history.read(&mut cursor, up_to, &mut room, &mut messages)?;
        let has_more = !is_last || messages.len() > n;
        messages.truncate(n);
        Ok(Page {
            outline,
            messages,
            has_more,
        })
    }

    /// The `n` largest logs of streams whose names begin with `prefix`, and the number of all logs.
    pub(crate) fn largest(&self, n: usize, prefix: &str) -> (Vec<StreamState>, usize) {
        let history = self.lock();
        let largest = history.largest(n, prefix, now_ms());
        (
            largest.iter().map(StreamState::from).collect(),
            history.totals().n_logs,
        )
    }

    /// Evicts old messages of some streams. Call it with every tick.
    pub(crate) fn sweep(&self) {
        self.change(|history| history.sweep(SWEPT_PER_TICK, now_ms()));
    }

    /// Changes the history under its lock, and counts what it evicts meanwhile.
    fn change(&self, change: impl FnOnce(&mut History<Payload>)) {
        let mut history = self.lock();
        let n_evicted = history.totals().n_evicted;
        change(&mut history);
        self.evicted.add(history.totals().n_evicted - n_evicted);
    }

    fn lock(&self) -> MutexGuard<'_, History<Payload>> {
        // A panic under the lock is a bug in the history; the sessions go on.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl View {
    pub(crate) fn new(archive: Arc<Archive>) -> Self {
        Self {
            archive,
            seen: Cell::new(0),
            advanced: Notify::new(),
        }
    }

    /// The shard has taken the message with this serial number from its mailbox.
    pub(crate) fn advance(&self, serial: u64) {
        self.seen.set(serial);
        self.advanced.notify_waiters();
    }

    /// Waits until the shard has delivered every message that is kept by now. Otherwise a client that comes from a
    /// faster shard would hear the latest messages again.
    pub(crate) async fn catch_up(&self) {
        let last = self.archive.lock().last_serial();
        while self.seen.get() < last {
            self.advanced.notified().await;
        }
    }

    /// The serial number of the last message that the shard has delivered.
    pub(crate) fn seen(&self) -> u64 {
        self.seen.get()
    }

    /// Begins the replay of streams. All of them, or none. `seen`: the session has not got what the shard has delivered
    /// behind this serial number. Streams that the request does not ask about begin there, or with the next message.
    ///
    /// # Errors
    /// Messages that belong to the answer are not kept.
    pub(crate) fn begin<'a>(
        &self,
        streams: impl IntoIterator<Item = &'a str>,
        request: &HistoryRequest,
        seen: Option<u64>,
    ) -> Result<Vec<Cursor>, Refused> {
        let unseen = Start::Unseen(seen.unwrap_or_else(|| self.seen.get()));
        self.begin_at(streams, |stream| {
            let position = request.streams.get(stream).map(|position| Start::After {
                epoch: &position.epoch,
                offset: position.offset,
            });
            let since = request.since.and_then(|since| u64::try_from(since).ok());
            position.or(since.map(Start::Since)).unwrap_or(unseen)
        })
    }

    /// Begins the replay of what the shard has delivered behind the message with the serial number `seen`.
    ///
    /// # Errors
    /// Some of the messages are no longer kept.
    pub(crate) fn begin_unseen<'a>(
        &self,
        streams: impl IntoIterator<Item = &'a str>,
        seen: u64,
    ) -> Result<Vec<Cursor>, Refused> {
        self.begin_at(streams, |_| Start::Unseen(seen))
    }

    fn begin_at<'a, 'b>(
        &self,
        streams: impl IntoIterator<Item = &'a str>,
        start: impl Fn(&'a str) -> Start<'b>,
    ) -> Result<Vec<Cursor>, Refused> {
        let history = self.archive.lock();
        let now_ms = now_ms();
        let streams = streams.into_iter();
        streams
            .map(|stream| history.begin(stream, start(stream), self.seen.get(), now_ms))
            .collect()
    }

    /// Goes on with a replay, up to `room` bytes; the last message may exceed them.
    ///
    /// # Errors
    /// Messages were evicted since the replay began.
    pub(crate) fn read(&self, cursors: &mut [Cursor], mut room: usize) -> Result<Excerpt, Refused> {
        let history = self.archive.lock();
        let mut messages = Vec::new();
        let mut is_last = true;
        for cursor in cursors {
            is_last &= history.read(cursor, self.seen.get(), &mut room, &mut messages)?;
        }
        Ok(Excerpt { messages, is_last })
    }
}

#[cfg(test)]
mod tests;
