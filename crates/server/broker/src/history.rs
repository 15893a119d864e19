//! The logs of all streams, and their limits together.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::Arc,
};

use crate::{
    Entry, Label, Outline, Place, Refused, Retentions, Start, Truncation,
    log::{Evicted, Log},
};

/// The limits of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How much of each stream is kept.
    pub retentions: Retentions,
    /// The most memory of all logs together, in bytes. Beyond it the streams that were silent for longest lose their
    /// messages first.
    pub max_bytes: usize,
    /// The answer to requests by time when some of the messages are gone.
    pub truncation: Truncation,
}

/// Makes an epoch that no log had before.
type NewEpoch = Box<dyn FnMut() -> Box<str> + Send>;

/// The latest messages of all streams.
pub struct History<T> {
    settings: Settings,
    new_epoch: NewEpoch,
    /// Clients and backends choose the names, so this map's hashes have a random key (ARCHITECTURE, "Hash tables").
    logs: HashMap<Arc<str>, Log<T>>,
    /// The names of the streams by the serial number of their last message: those that were silent for longest first.
    by_silence: BTreeMap<u64, Arc<str>>,
    /// Where the sweep goes on.
    swept_up_to: u64,
    last_serial: u64,
    totals: Totals,
    /// The second of the newest message of a log that was forgotten with everything about it.
    forgotten_at_secs: Option<u64>,
    /// The serial number of that message; 0 if no log was forgotten.
    forgotten_serial: u64,
}

/// Sums over all logs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Logs, empty ones included.
    pub n_logs: usize,
    /// Messages.
    pub n_entries: usize,
    /// Memory, in bytes.
    pub n_bytes: usize,
    /// Messages that were evicted since the start, for any reason.
    pub n_evicted: u64,
}

/// A replay of one stream in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    stream: Box<str>,
    /// `None`: the stream had no log when the replay began.
    epoch: Option<Box<str>>,
    /// The offset of the next message.
    next: u64,
}

impl<T> History<T> {
    /// A history without messages.
    pub fn new(settings: Settings, new_epoch: impl FnMut() -> Box<str> + Send + 'static) -> Self {
        Self {
            settings,
            new_epoch: Box::new(new_epoch),
            logs: HashMap::new(),
            by_silence: BTreeMap::new(),
            swept_up_to: 0,
            last_serial: 0,
            totals: Totals::default(),
            forgotten_at_secs: None,
            forgotten_serial: 0,
        }
    }

    /// Sums over all logs.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The figures of a stream's log; `None` if it has none.
    pub fn outline(&self, stream: &str, now_ms: u64) -> Option<Outline> {
        self.logs.get(stream).map(|log| log.outline(now_ms))
    }

    /// The `n` logs that occupy most memory among those of streams whose names begin with `prefix`, the largest first.
    /// Logs of equal size are in the order of their names. Looks at every log.
    pub fn largest(&self, n: usize, prefix: &str, now_ms: u64) -> Vec<Outline> {
        let logs = self.logs.iter().filter(|(name, _)| name.starts_with(prefix));
        let mut sizes: Vec<_> = logs.map(|(name, log)| (Reverse(log.n_bytes()), name)).collect();
        if n < sizes.len() {
            sizes.select_nth_unstable(n);
            sizes.truncate(n);
        }
        sizes.sort_unstable();
        sizes
            .into_iter()
            .filter_map(|(_, name)| self.outline(name, now_ms))
            .collect()
    }

    /// The serial number of the last message of any log; 0 if there was none.
    pub fn last_serial(&self) -> u64 {
        self.last_serial
    }

    /// Keeps a message, which occupies `value_bytes` bytes, and gives it its position.
    pub fn append(&mut self, stream: &str, value: T, value_bytes: usize, now_ms: u64) -> Arc<Entry<T>> {
        let name = match self.logs.get_key_value(stream) {
            Some((name, _)) => Arc::clone(name),
            None => self.create(stream, now_ms),
        };
        self.last_serial += 1;
        let log = self.logs.get_mut(stream).expect("it was there, or was created");
        self.by_silence.remove(&log.top_serial());
        self.by_silence.insert(self.last_serial, name);
        let entry = log.append(value, value_bytes, self.last_serial, now_ms);
        let evicted = log.trim(now_ms);
        self.totals.n_entries += 1;
        self.totals.n_bytes += entry.n_bytes;
        self.subtract(evicted);
        self.make_room();
        entry
    }

    /// The log of a stream is the one with this place, of which no later message is known. What was kept of the stream
    /// is dropped. Returns the serial number of the change, which readers see like a message.
    pub fn begin_at(&mut self, stream: &str, place: Place<'_>, now_ms: u64) -> u64 {
        let replaces = self.remove(stream).is_some_and(|log| log.top_serial() > 0);
        self.last_serial += 1;
        let retention = self.settings.retentions.of(stream);
        let mut log = Log::at(place, stream, retention, self.last_serial, now_ms);
        if replaces {
            log.lacks_up_to(self.last_serial);
        }
        self.insert(stream, log);
        self.make_room();
        self.last_serial
    }

    /// Takes a serial number for something that is no message, which readers see like one.
    pub fn note(&mut self) -> u64 {
        self.last_serial += 1;
        self.last_serial
    }

    /// Keeps a message that has its place already. If the place does not follow the log of the stream, what was kept of
    /// the stream is dropped.
    pub fn append_at(
        &mut self,
        stream: &str,
        place: Place<'_>,
        value: T,
        value_bytes: usize,
        now_ms: u64,
    ) -> Arc<Entry<T>> {
        let follows = |log: &Log<T>| *log.label.epoch == *place.epoch && log.top() + 1 == place.offset;
        if !self.logs.get(stream).is_some_and(follows) {
            let before = Place {
                offset: place.offset.saturating_sub(1),
                ..place
            };
            self.begin_at(stream, before, now_ms);
        }
        self.append(stream, value, value_bytes, place.at_ms)
    }

    /// Evicts old messages of up to `max_logs` streams. Each call goes on where the last one ended. Call it
    /// periodically.
    pub fn sweep(&mut self, max_logs: usize, now_ms: u64) {
        let from = (Bound::Excluded(self.swept_up_to), Bound::Unbounded);
        let due: Vec<_> = self
            .by_silence
            .range(from)
            .take(max_logs)
            .map(|(serial, name)| (*serial, Arc::clone(name)))
            .collect();
        self.swept_up_to = match due.last() {
            Some((serial, _)) if due.len() == max_logs => *serial,
            _ => 0,
        };
        for (serial, name) in due {
            let log = self
                .logs
                .get_mut(&name)
                .expect("both tables have the same streams");
            let evicted = log.trim(now_ms);
            let is_forgettable = log.is_forgettable(now_ms);
            self.subtract(evicted);
            if is_forgettable {
                self.forget(serial, &name);
            }
        }
        if self.logs.len() * 4 < self.logs.capacity() {
            self.logs.shrink_to(self.logs.len() * 2);
        }
    }

    /// Begins a replay for a reader that has seen all logs up to the serial number `up_to`.
    ///
    /// # Errors
    /// The messages between the start and what the reader will see next are not all kept.
    pub fn begin(&self, stream: &str, start: Start<'_>, up_to: u64, now_ms: u64) -> Result<Cursor, Refused> {
        let truncation = self.settings.truncation;
        let log = self.logs.get(stream);
        // An earlier log of this stream may have been forgotten with messages that belong to the answer.
        let may_be_forgotten = match start {
            Start::After { .. } => false,
            Start::Since(secs) => {
                truncation == Truncation::Refuse
                    && self.forgotten_at_secs.is_some_and(|at| at >= secs)
                    && log.is_none_or(|log| log.created_at_secs() >= secs)
            }
            Start::Unseen(serial) => {
                self.forgotten_serial > serial && log.is_none_or(|log| log.first_serial() > serial)
            }
        };
        if may_be_forgotten {
            return Err(Refused::Gone);
        }
        let next = match (log, start) {
            (Some(log), start) => log.begin(start, truncation, up_to, now_ms)?,
            (None, Start::Since(_) | Start::Unseen(_)) => 1,
            (None, Start::After { .. }) => return Err(Refused::NoLog),
        };
        Ok(Cursor {
            stream: stream.into(),
            epoch: log.map(|log| log.label.epoch.clone()),
            next,
        })
    }

    /// Goes on with a replay, and appends messages to `found` until `room` bytes are used up; the last message may
    /// exceed the room. Returns whether it came to the last message up to the serial number `up_to`.
    ///
    /// # Errors
    /// Messages were evicted in the meantime.
    pub fn read(
        &self,
        cursor: &mut Cursor,
        up_to: u64,
        room: &mut usize,
        found: &mut Vec<Arc<Entry<T>>>,
    ) -> Result<bool, Refused> {
        let Some(log) = self.logs.get(&*cursor.stream) else {
            return match cursor.epoch {
                Some(_) => Err(Refused::Gone),
                None => Ok(true),
            };
        };
        let epoch = cursor.epoch.get_or_insert_with(|| log.label.epoch.clone());
        if *epoch != log.label.epoch {
            return Err(Refused::Gone);
        }
        log.read(&mut cursor.next, up_to, room, found)
    }

    fn create(&mut self, stream: &str, now_ms: u64) -> Arc<str> {
        let name: Arc<str> = stream.into();
        let label = Label {
            stream: stream.into(),
            epoch: (self.new_epoch)(),
        };
        let retention = self.settings.retentions.of(stream);
        let log = Log::new(label, retention, self.last_serial + 1, now_ms);
        self.logs.insert(Arc::clone(&name), log);
        self.totals.n_logs += 1;
        self.totals.n_bytes += Log::<T>::own_bytes(stream);
        name
    }

    fn insert(&mut self, stream: &str, log: Log<T>) {
        let name: Arc<str> = stream.into();
        self.by_silence.insert(log.top_serial(), Arc::clone(&name));
        self.logs.insert(name, log);
        self.totals.n_logs += 1;
        self.totals.n_bytes += Log::<T>::own_bytes(stream);
    }

    /// Removes a log, which is not forgotten: another one takes its place.
    fn remove(&mut self, stream: &str) -> Option<Log<T>> {
        let mut log = self.logs.remove(stream)?;
        self.by_silence.remove(&log.top_serial());
        let evicted = log.free(usize::MAX);
        self.subtract(evicted);
        self.totals.n_logs -= 1;
        self.totals.n_bytes -= Log::<T>::own_bytes(stream);
        Some(log)
    }

    fn make_room(&mut self) {
        while let Some(n_excess) = self
            .totals
            .n_bytes
            .checked_sub(self.settings.max_bytes.saturating_add(1))
            && let Some((serial, name)) = self.by_silence.first_key_value()
        {
            let (serial, name) = (*serial, Arc::clone(name));
            let log = self
                .logs
                .get_mut(&name)
                .expect("both tables have the same streams");
            let evicted = log.free(n_excess + 1);
            let is_empty = log.len() == 0;
            self.subtract(evicted);
            if is_empty {
                self.forget(serial, &name);
            }
        }
    }

    fn forget(&mut self, serial: u64, name: &str) {
        self.by_silence.remove(&serial);
        if let Some(log) = self.logs.remove(name) {
            self.forgotten_at_secs = self.forgotten_at_secs.max(Some(log.last_at_secs()));
            self.forgotten_serial = self.forgotten_serial.max(serial);
            self.totals.n_logs -= 1;
            self.totals.n_bytes -= Log::<T>::own_bytes(name);
        }
    }

    fn subtract(&mut self, evicted: Evicted) {
        self.totals.n_entries -= evicted.n_entries;
        self.totals.n_bytes -= evicted.n_bytes;
        self.totals.n_evicted += evicted.n_entries as u64;
    }
}

impl<T> std::fmt::Debug for History<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("History")
            .field("settings", &self.settings)
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
