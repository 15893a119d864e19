//! The log of one stream.

use std::{collections::VecDeque, sync::Arc};

use crate::{Entry, Label, Outline, Place, Refused, Retention, Start, Truncation};

/// The latest messages of a stream. Offsets of the kept ones have no gap.
#[derive(Debug)]
pub(crate) struct Log<T> {
    pub(crate) label: Arc<Label>,
    retention: Retention,
    entries: VecDeque<Arc<Entry<T>>>,
    /// The offset of the last message, kept or not.
    top: u64,
    /// The serial number of the last message.
    top_serial: u64,
    /// The time of the last message, in milliseconds.
    last_at_ms: u64,
    created_at_ms: u64,
    /// The serial number of the first message, kept or not.
    first_serial: u64,
    /// The second of the newest message that is gone.
    gone_at_secs: Option<u64>,
    /// The serial number of the newest message that is gone; 0 if none are.
    gone_serial: u64,
    /// The memory of the kept messages, in bytes.
    n_bytes: usize,
}

/// What left a log.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Evicted {
    pub(crate) n_entries: usize,
    pub(crate) n_bytes: usize,
}

/// How long an empty log is remembered after its last message, in lifetimes of a message. A client that has heard that
/// message has lost nothing, and is told so.
const MEMORY_IN_TTLS: u64 = 10;

impl<T> Log<T> {
    pub(crate) fn new(label: Label, retention: Retention, first_serial: u64, now_ms: u64) -> Self {
        Self {
            label: Arc::new(label),
            retention,
            entries: VecDeque::new(),
            top: 0,
            top_serial: 0,
            last_at_ms: now_ms,
            created_at_ms: now_ms,
            first_serial,
            gone_at_secs: None,
            gone_serial: 0,
            n_bytes: 0,
        }
    }

    /// A log that is kept elsewhere, up to this place, without the messages. Its last message counts as gone.
    pub(crate) fn at(place: Place<'_>, stream: &str, retention: Retention, serial: u64, now_ms: u64) -> Self {
        let label = Label {
            stream: stream.into(),
            epoch: place.epoch.into(),
        };
        let mut log = Self::new(label, retention, serial, now_ms);
        log.top = place.offset;
        log.top_serial = serial;
        // Everything before is known to be gone, or never was.
        log.created_at_ms = 0;
        log.last_at_ms = place.at_ms;
        log.gone_at_secs = (place.offset > 0).then_some(place.at_ms / 1000);
        log
    }

    /// Readers that have not seen this serial number lack messages.
    pub(crate) fn lacks_up_to(&mut self, serial: u64) {
        self.gone_serial = serial;
    }

    pub(crate) fn top(&self) -> u64 {
        self.top
    }

    /// The log in figures.
    pub(crate) fn outline(&self, now_ms: u64) -> Outline {
        let n_expired = self.n_expired(now_ms);
        Outline {
            label: Arc::clone(&self.label),
            top: self.top,
            n_entries: self.entries.len() - n_expired,
            n_bytes: self.n_bytes(),
            last_at_ms: self.last_at_ms,
        }
    }

    /// The memory of the log with its messages, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        Self::own_bytes(&self.label.stream) + self.n_bytes
    }

    /// The memory of a log without entries, in bytes: itself, its name in two tables and its label.
    pub(crate) fn own_bytes(stream: &str) -> usize {
        size_of::<Self>() + 160 + 2 * stream.len()
    }

    pub(crate) fn top_serial(&self) -> u64 {
        self.top_serial
    }

    pub(crate) fn last_at_secs(&self) -> u64 {
        self.last_at_ms / 1000
    }

    pub(crate) fn first_serial(&self) -> u64 {
        self.first_serial
    }

    pub(crate) fn created_at_secs(&self) -> u64 {
        self.created_at_ms / 1000
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn append(&mut self, value: T, value_bytes: usize, serial: u64, now_ms: u64) -> Arc<Entry<T>> {
        self.top += 1;
        self.top_serial = serial;
        self.last_at_ms = self.last_at_ms.max(now_ms);
        let entry = Arc::new(Entry {
            label: Arc::clone(&self.label),
            offset: self.top,
            serial,
            at_ms: self.last_at_ms,
            value,
            n_bytes: value_bytes + Entry::<T>::OVERHEAD,
        });
        self.entries.push_back(Arc::clone(&entry));
        self.n_bytes += entry.n_bytes;
        entry
    }

    /// Evicts what is beyond the limit or too old.
    pub(crate) fn trim(&mut self, now_ms: u64) -> Evicted {
        let n_expired = self.n_expired(now_ms);
        let n_beyond = self.entries.len().saturating_sub(self.retention.limit);
        self.evict(n_expired.max(n_beyond))
    }

    /// Evicts the oldest messages until `n_bytes` bytes are free, or none are left.
    pub(crate) fn free(&mut self, n_bytes: usize) -> Evicted {
        let mut n_freed = 0;
        let n_entries = self
            .entries
            .iter()
            .take_while(|entry| {
                let is_needed = n_freed < n_bytes;
                n_freed += entry.n_bytes;
                is_needed
            })
            .count();
        self.evict(n_entries)
    }

    fn evict(&mut self, n_entries: usize) -> Evicted {
        let mut n_bytes = 0;
        for entry in self.entries.drain(..n_entries) {
            n_bytes += entry.n_bytes;
            self.gone_at_secs = Some(entry.at_secs());
            self.gone_serial = entry.serial;
        }
        if self.entries.len() * 4 < self.entries.capacity() {
            self.entries.shrink_to_fit();
        }
        self.n_bytes -= n_bytes;
        Evicted { n_entries, n_bytes }
    }

    /// Whether nothing needs to be known about the stream any more.
    pub(crate) fn is_forgettable(&self, now_ms: u64) -> bool {
        let ttl_ms = u64::try_from(self.retention.ttl.as_millis()).unwrap_or(u64::MAX);
        self.entries.is_empty()
            && now_ms.saturating_sub(self.last_at_ms) > ttl_ms.saturating_mul(MEMORY_IN_TTLS)
    }

    /// The number of messages that are too old, and still here because no sweep has come by.
    fn n_expired(&self, now_ms: u64) -> usize {
        let ttl_ms = u64::try_from(self.retention.ttl.as_millis()).unwrap_or(u64::MAX);
        let oldest_ms = now_ms.saturating_sub(ttl_ms);
        self.entries.partition_point(|entry| entry.at_ms < oldest_ms)
    }

    /// The lowest kept offset, or the next one if none are kept.
    fn low(&self) -> u64 {
        self.top + 1 - self.entries.len() as u64
    }

    /// The last offset among messages up to this serial number. If all kept messages are later, it is the one before
    /// them: earlier ones are gone.
    fn view_top(&self, up_to: u64) -> u64 {
        if self.top_serial <= up_to {
            return self.top;
        }
        let n_seen = self.entries.partition_point(|entry| entry.serial <= up_to);
        self.low() + n_seen as u64 - 1
    }

    /// The offset of the first message of a replay, for a reader that has seen all logs up to a serial number.
    pub(crate) fn begin(
        &self,
        start: Start<'_>,
        truncation: Truncation,
        up_to: u64,
        now_ms: u64,
    ) -> Result<u64, Refused> {
        let n_expired = self.n_expired(now_ms);
        let view_top = self.view_top(up_to);
        match start {
            Start::After { epoch, .. } if *epoch != *self.label.epoch => Err(Refused::OtherEpoch),
            Start::After { offset, .. } if offset > view_top => Err(Refused::Ahead),
            Start::After { offset, .. } if offset == view_top => Ok(offset + 1),
            Start::After { offset, .. } if offset + 1 < self.low() + n_expired as u64 => Err(Refused::Gone),
            Start::After { offset, .. } => Ok(offset + 1),
            Start::Unseen(serial) if self.gone_serial > serial => Err(Refused::Gone),
            Start::Unseen(serial) => Ok(self.view_top(serial) + 1),
            Start::Since(secs) => {
                let expired_at = n_expired.checked_sub(1).map(|last| self.entries[last].at_secs());
                let gone_at = expired_at.or(self.gone_at_secs);
                if truncation == Truncation::Refuse && gone_at.is_some_and(|gone_at| gone_at >= secs) {
                    return Err(Refused::Gone);
                }
                let n_before = self.entries.partition_point(|entry| entry.at_secs() < secs);
                let first = self.low() + n_before.max(n_expired) as u64;
                Ok(first.min(view_top + 1))
            }
        }
    }

    /// Appends kept messages from offset `next` on to `found`, up to a serial number, until `room` is used up. `next`
    /// and `room` are advanced; the last message may exceed the room. Returns whether it came to the end.
    pub(crate) fn read(
        &self,
        next: &mut u64,
        up_to: u64,
        room: &mut usize,
        found: &mut Vec<Arc<Entry<T>>>,
    ) -> Result<bool, Refused> {
        let Some(n_before) = next.checked_sub(self.low()) else {
            return Err(Refused::Gone);
        };
        let n_before = usize::try_from(n_before).unwrap_or(usize::MAX);
        for entry in self
            .entries
            .iter()
            .skip(n_before)
            .take_while(|entry| entry.serial <= up_to)
        {
            if *room == 0 {
                return Ok(false);
            }
            *room = room.saturating_sub(entry.n_bytes);
            *next = entry.offset + 1;
            found.push(Arc::clone(entry));
        }
        Ok(true)
    }
}
