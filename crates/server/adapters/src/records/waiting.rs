//! The changes of records on their way to the store.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    mem,
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::Record;

/// The most memory of changes that wait for the store, in bytes. Overflow rule: the change is dropped and counted, and its
/// record cannot be taken.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// The memory of a waiting change besides its texts, in bytes.
const CHANGE_OVERHEAD: usize = 256;

/// The most changes that are sent at once.
const BATCH: usize = 256;

/// How long a change of a record that is held may wait. Records change several times soon after their beginning.
const HOLD_DELAY: Duration = Duration::from_secs(1);

/// A change of a record of this server.
#[derive(Debug)]
pub enum Change {
    /// The server has it.
    Hold(Record),
    /// Any server may take it.
    Leave(Record),
    /// It is gone.
    Remove,
    /// Nothing, but the server still has it.
    Touch,
}

/// What the store made of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Made,
    /// There was nothing to touch.
    Absent,
    /// Another server has taken the record.
    NotOurs,
}

/// Changes that the store has not confirmed, and records whose lifetimes are to be renewed. Only servers of this program make
/// keys, so clients cannot choose their hashes.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// The latest change of each record.
    pub(crate) changes: HashMap<Arc<str>, Change>,
    /// Keys with a change to be sent, and those whose change may wait until a time.
    urgent: VecDeque<Arc<str>>,
    later: VecDeque<(Instant, Arc<str>)>,
    /// Keys whose change is being sent.
    pub(crate) under_way: HashSet<Arc<str>>,
    /// The records that this server has, with whether they are in `to_touch`.
    held: HashMap<Arc<str>, bool>,
    to_touch: VecDeque<(Instant, Arc<str>)>,
    n_bytes: usize,
    is_stopping: bool,
}

impl Waiting {
    /// Adds a change, which replaces an earlier one of the same record. Returns false if there is no room for it.
    pub(crate) fn add(&mut self, key: Arc<str>, change: Change) -> bool {
        let earlier = self.changes.remove(&key);
        self.n_bytes -= earlier.as_ref().map_or(0, Change::n_bytes);
        // What a record is at first is sent at once, so that it is known wherever its client comes back to.
        let is_known = self.held.contains_key(&key);
        match change {
            Change::Hold(_) => drop(self.held.entry(Arc::clone(&key)).or_default()),
            Change::Leave(_) | Change::Remove => drop(self.held.remove(&key)),
            Change::Touch => {}
        }
        if self.n_bytes + change.n_bytes() > MAX_WAITING_BYTES {
            return false;
        }
        let may_wait = is_known && matches!(change, Change::Hold(_)) && !self.is_stopping;
        if !may_wait {
            self.urgent.push_back(Arc::clone(&key));
        } else if !matches!(earlier, Some(Change::Hold(_))) {
            self.later
                .push_back((Instant::now() + HOLD_DELAY, Arc::clone(&key)));
        }
        self.n_bytes += change.n_bytes();
        self.changes.insert(key, change);
        true
    }

    /// Takes the changes that are to be sent now, and the time at which the next ones are due if there are none.
    pub(crate) fn take_due(&mut self, now: Instant) -> (Vec<(Arc<str>, Change)>, Option<Instant>) {
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(key) = self.urgent.pop_front().or_else(|| pop_due(&mut self.later, now))
        {
            // An earlier entry may have sent it.
            if let Some(change) = self.changes.remove(&key) {
                self.n_bytes -= change.n_bytes();
                self.under_way.insert(Arc::clone(&key));
                batch.push((key, change));
            }
        }
        while batch.len() < BATCH
            && let Some(key) = pop_due(&mut self.to_touch, now)
        {
            if self.held.contains_key(&key) {
                batch.push((key, Change::Touch));
            }
        }
        let next = [self.later.front(), self.to_touch.front()];
        (batch, next.into_iter().flatten().map(|(due, _)| *due).min())
    }

    /// The store has answered a change. Returns whether another server has taken a record that this one has.
    pub(crate) fn confirm(
        &mut self,
        key: Arc<str>,
        change: &Change,
        outcome: Outcome,
        ttl: Duration,
    ) -> bool {
        self.under_way.remove(&key);
        if self.held.len() * 4 < self.held.capacity() {
            let n_held = self.held.len();
            self.held.shrink_to(n_held * 2);
        }
        let Some(is_in_line) = self.held.get_mut(&key) else {
            return false;
        };
        if outcome == Outcome::NotOurs {
            self.held.remove(&key);
            return true;
        }
        if matches!(change, Change::Touch) || !mem::replace(is_in_line, true) {
            self.to_touch.push_back((Instant::now() + ttl / 2, key));
        }
        false
    }

    /// The store has not answered a change.
    pub(crate) fn put_back(&mut self, key: Arc<str>, change: Change) {
        self.under_way.remove(&key);
        if matches!(change, Change::Touch) {
            self.to_touch.push_front((Instant::now(), key));
        } else if !self.changes.contains_key(&key) {
            self.n_bytes += change.n_bytes();
            self.changes.insert(Arc::clone(&key), change);
            self.urgent.push_back(key);
        }
    }

    /// No change waits any longer.
    pub(crate) fn hurry(&mut self) {
        self.is_stopping = true;
        let waiting = self.later.drain(..).map(|(_, key)| key);
        self.urgent.extend(waiting);
    }
}

fn pop_due(line: &mut VecDeque<(Instant, Arc<str>)>, now: Instant) -> Option<Arc<str>> {
    let (_, key) = line.pop_front_if(|(due, _)| *due <= now)?;
    Some(key)
}

impl Change {
    fn n_bytes(&self) -> usize {
        let record = match self {
            Self::Hold(record) | Self::Leave(record) => record.guard.len() + record.content.len(),
            Self::Remove | Self::Touch => 0,
        };
        CHANGE_OVERHEAD + record
    }
}

#[cfg(test)]
mod tests;
