//! A set of small numbers with one bit each: 5,000 listeners are 625 bytes, which stay in the first-level cache
//! while a broadcast arrives.

/// A set of slots below a fixed limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BitSet {
    words: Box<[u64]>,
    n_members: usize,
}

impl BitSet {
    /// An empty set that can hold the slots below `n_slots`.
    pub(crate) fn with_slots(n_slots: usize) -> Self {
        Self {
            words: vec![0; n_slots.div_ceil(64)].into_boxed_slice(),
            n_members: 0,
        }
    }

    /// An empty set for the same slots.
    pub(crate) fn empty_like(&self) -> Self {
        Self {
            words: vec![0; self.words.len()].into_boxed_slice(),
            n_members: 0,
        }
    }

    /// Adds `slot`; false when it was a member already or lies above the limit.
    pub(crate) fn insert(&mut self, slot: usize) -> bool {
        let Some(word) = self.words.get_mut(slot / 64) else {
            return false;
        };
        let bit = 1 << (slot % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        self.n_members += usize::from(is_new);
        is_new
    }

    /// Whether `slot` is a member.
    pub(crate) fn contains(&self, slot: usize) -> bool {
        self.words
            .get(slot / 64)
            .is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }

    /// The numbers in the set, in ascending order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> {
        (0..self.words.len() * 64).filter(|slot| self.contains(*slot))
    }

    /// The number of members.
    pub(crate) fn n_members(&self) -> usize {
        self.n_members
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_set(slots in proptest::collection::vec(0_usize..300, 0..200)) {
            let mut set = BitSet::with_slots(256);
            let mut model = BTreeSet::new();
            for slot in slots {
                prop_assert_eq!(set.insert(slot), slot < 256 && model.insert(slot), "insert {}", slot);
                prop_assert_eq!(set.contains(slot), slot < 256);
            }
            prop_assert_eq!(set.n_members(), model.len());
        }
    }
}
