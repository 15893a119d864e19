//! When each broadcast of a step was sent, shared by the worker that sends it and all workers that receive it.
//!
//! It is an array of atomics, written once per broadcast and read once per delivery, so that a message needs to
//! carry nothing but its id.

use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// The send instants and floors of the broadcasts with consecutive ids.
#[derive(Debug)]
pub(crate) struct SendTable {
    epoch: Instant,
    first_id: u64,
    entries: Box<[Entry]>,
    /// By how much the times of sends are known on other machines, in nanoseconds. Zero if no other machine needs them.
    uncertainty_ns: AtomicU64,
}

/// The data of a broadcast that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Immediately before the write.
    pub(crate) at: Instant,
    /// All ids up to this one were acknowledged before the send.
    pub(crate) floor: u64,
}

#[derive(Debug, Default)]
struct Entry {
    /// Nanoseconds since the epoch plus one; 0 while the broadcast is not sent.
    sent_ns: AtomicU64,
    floor: AtomicU64,
}

impl SendTable {
    /// The memory of a broadcast, in bytes.
    pub(crate) const BYTES_EACH: usize = size_of::<Entry>();

    /// A table for `n_ids` broadcasts from `first_id` on; no send instant may lie before `epoch`.
    pub(crate) fn new(epoch: Instant, first_id: u64, n_ids: usize) -> Self {
        Self {
            epoch,
            first_id,
            entries: (0..n_ids).map(|_| Entry::default()).collect(),
            uncertainty_ns: AtomicU64::new(0),
        }
    }

    /// The time of a send was told to another machine, where it is wrong by `uncertainty` at most.
    pub(crate) fn note_uncertainty(&self, uncertainty: Duration) {
        let ns = u64::try_from(uncertainty.as_nanos()).unwrap_or(u64::MAX);
        self.uncertainty_ns.fetch_max(ns, Ordering::Relaxed);
    }

    /// The largest error of any send on another machine; `None` if no other machine was told.
    pub(crate) fn uncertainty(&self) -> Option<Duration> {
        let ns = self.uncertainty_ns.load(Ordering::Relaxed);
        (ns > 0).then(|| Duration::from_nanos(ns))
    }

    /// The ids that this table is for.
    pub(crate) fn ids(&self) -> Range<u64> {
        self.first_id..self.first_id + self.entries.len() as u64
    }

    /// Notes that `id` goes out now. An id outside the table is ignored.
    pub(crate) fn mark_sent(&self, id: u64, floor: u64, at: Instant) {
        if let Some(entry) = self.entry(id) {
            let since_epoch = u64::try_from(at.duration_since(self.epoch).as_nanos()).unwrap_or(u64::MAX - 1);
            entry.floor.store(floor, Ordering::Relaxed);
            // Release: a thread that sees the instant also sees the floor.
            entry.sent_ns.store(since_epoch + 1, Ordering::Release);
        }
    }

    /// The send of `id`; `None` if it was not sent.
    pub(crate) fn sent(&self, id: u64) -> Option<Sent> {
        let entry = self.entry(id)?;
        let since_epoch = entry.sent_ns.load(Ordering::Acquire).checked_sub(1)?;
        let at = self.epoch + Duration::from_nanos(since_epoch);
        Some(Sent {
            at,
            floor: entry.floor.load(Ordering::Relaxed),
        })
    }

    fn entry(&self, id: u64) -> Option<&Entry> {
        self.entries
            .get(usize::try_from(id.checked_sub(self.first_id)?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sent_is_known() {
        let epoch = Instant::now();
        let table = SendTable::new(epoch, 11, 3);
        table.mark_sent(11, 0, epoch);
        table.mark_sent(13, 10, epoch + Duration::from_micros(5));
        table.mark_sent(14, 10, epoch);
        let got: Vec<_> = (9..16)
            .filter_map(|id| table.sent(id).map(|sent| (id, sent.at - epoch, sent.floor)))
            .collect();
        assert_eq!(got, [(11, Duration::ZERO, 0), (13, Duration::from_micros(5), 10)]);
        assert_eq!(table.ids(), 11..14);
    }
}
