//! Walks over tables, in portions that take turns with other work.

use slab::Slab;

/// Calls `visit` with the entries of up to `max` slots from number `start` on. Returns the number at which to continue, or
/// `None` at the end. Entries that come or go meanwhile may be missed.
pub(crate) fn visit<T>(entries: &Slab<T>, start: usize, max: usize, visit: impl FnMut(&T)) -> Option<usize> {
    let end = (start + max).min(entries.capacity());
    (start..end)
        .filter_map(|index| entries.get(index))
        .for_each(visit);
    (end < entries.capacity()).then_some(end)
}
