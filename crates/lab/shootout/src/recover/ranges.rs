//! A set of whole numbers that mostly follow each other, in as much memory as it has gaps.

use std::ops::RangeInclusive;

/// Numbers as sorted ranges with a gap between any two of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds a number. Returns whether it is new.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        // Messages come in order nearly always, so the last range grows.
        if let Some((_, end)) = self.0.last_mut()
            && end.checked_add(1) == Some(number)
        {
            *end = number;
            return true;
        }
        let at = self.0.partition_point(|(_, end)| *end < number);
        if self.0.get(at).is_some_and(|(start, _)| *start <= number) {
            return false;
        }
        let grows_left = at > 0 && self.0[at - 1].1.checked_add(1) == Some(number);
        let grows_right = self
            .0
            .get(at)
            .is_some_and(|(start, _)| number.checked_add(1) == Some(*start));
        match (grows_left, grows_right) {
            (true, true) => {
                let (_, end) = self.0.remove(at);
                self.0[at - 1].1 = end;
            }
            (true, false) => self.0[at - 1].1 = number,
            (false, true) => self.0[at].0 = number,
            (false, false) => self.0.insert(at, (number, number)),
        }
        true
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        let at = self.0.partition_point(|(_, end)| *end < number);
        self.0.get(at).is_some_and(|(start, _)| *start <= number)
    }

    /// How many of these numbers are in the set.
    pub(crate) fn count_in(&self, numbers: RangeInclusive<u64>) -> u64 {
        let (first, last) = numbers.into_inner();
        if first > last {
            return 0;
        }
        let at = self.0.partition_point(|(_, end)| *end < first);
        let within = self.0[at..].iter().take_while(|(start, _)| *start <= last);
        within
            .map(|(start, end)| (*end).min(last) - (*start).max(first) + 1)
            .sum()
    }

    /// The numbers of the set within these, in order.
    pub(crate) fn iter_in(&self, numbers: RangeInclusive<u64>) -> impl Iterator<Item = u64> + '_ {
        let (first, last) = numbers.into_inner();
        let at = self.0.partition_point(|(_, end)| *end < first);
        let within = self.0[at..].iter().take_while(move |(start, _)| *start <= last);
        within.flat_map(move |(start, end)| (*start).max(first)..=(*end).min(last))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(
            numbers in proptest::collection::vec(0_u64..40, 0..80),
            first in 0_u64..40,
            last in 0_u64..40,
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for number in numbers {
                prop_assert_eq!(ranges.insert(number), set.insert(number));
            }
            for number in 0..41 {
                prop_assert_eq!(ranges.contains(number), set.contains(&number));
            }
            let within: Vec<_> = set.iter().copied().filter(|n| (first..=last).contains(n)).collect();
            prop_assert_eq!(ranges.count_in(first..=last), within.len() as u64);
            if first <= last {
                prop_assert_eq!(ranges.iter_in(first..=last).collect::<Vec<_>>(), within);
            }
            prop_assert!(ranges.0.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
    }

    #[test]
    fn the_largest_number_does_not_overflow() {
        let mut ranges = Ranges::default();
        for number in [u64::MAX, u64::MAX - 1, 0, u64::MAX] {
            ranges.insert(number);
        }
        assert_eq!(ranges.0, [(0, 0), (u64::MAX - 1, u64::MAX)]);
        assert!(!ranges.insert(u64::MAX));
    }
}
