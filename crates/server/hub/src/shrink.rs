//! Shrinks tables that were large once.
//!
//! A table that is less than a quarter full is cut down to its contents. It has to double twice before that can happen
//! again, so the work is a constant share of the work that filled it.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash},
};

use slab::Slab;
use smallvec::{Array, SmallVec};

/// The capacity that a table keeps in any case: some ten kilobytes.
const KEPT: usize = 256;

fn is_due(len: usize, capacity: usize) -> bool {
    capacity > KEPT && len < capacity / 4
}

/// Cuts a slab after its last entry. Numbers do not change, so an old entry with a high number keeps the capacity below
/// it. New entries take the lowest numbers first.
pub(crate) fn slab<T>(slab: &mut Slab<T>) {
    if is_due(slab.len(), slab.capacity()) {
        slab.shrink_to_fit();
    }
}

pub(crate) fn map<K: Eq + Hash, V, S: BuildHasher>(map: &mut HashMap<K, V, S>) {
    if is_due(map.len(), map.capacity()) {
        map.shrink_to_fit();
    }
}

/// Shrinks a list of a single session. It is small in itself.
pub(crate) fn list<A: Array>(list: &mut SmallVec<A>) {
    if list.spilled() && list.len() < list.capacity() / 4 {
        list.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(len: usize, capacity: usize, expected: bool) {
        assert_eq!(is_due(len, capacity), expected, "{len} of {capacity}");
    }

    #[test]
    fn a_table_is_cut_when_it_is_large_and_almost_empty() {
        check(0, 256, false);
        check(0, 257, true);
        check(1000, 4000, false);
        check(999, 4000, true);
    }

    #[test]
    fn a_slab_is_cut_behind_its_last_entry_and_fills_up_from_below() {
        let mut entries: Slab<usize> = (0..1000).map(|n| (n, n)).collect();
        entries.retain(|index, _| index == 300);
        slab(&mut entries);
        assert_eq!((entries.capacity(), entries.get(300)), (301, Some(&300)));
        assert_eq!(entries.insert(0), 0);
        entries.clear();
        slab(&mut entries);
        assert_eq!(entries.capacity(), 0);
    }

    #[test]
    fn a_list_that_empties_is_moved_a_few_times_only() {
        let mut entries: SmallVec<[usize; 2]> = (0..128).collect();
        let mut capacities = vec![entries.capacity()];
        while entries.pop().is_some() {
            list(&mut entries);
            capacities.push(entries.capacity());
        }
        capacities.dedup();
        assert_eq!(capacities, [128, 31, 6, 2]);
    }
}
