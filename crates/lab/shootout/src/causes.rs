//! Failures, counted by cause.

use std::collections::BTreeMap;

use plimsoll_clients::cause::Cause;

/// Only a server that invents reasons for `disconnect` has more; those are counted together.
const MAX_GROUPS: usize = 50;

/// How often each cause struck.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Causes {
    counts: BTreeMap<Cause, u64>,
    n_others: u64,
}

impl Causes {
    pub(crate) fn count(&mut self, cause: Cause) {
        if self.counts.len() < MAX_GROUPS || self.counts.contains_key(&cause) {
            *self.counts.entry(cause).or_default() += 1;
        } else {
            self.n_others += 1;
        }
    }

    /// All failures together.
    pub fn total(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.n_others
    }

    /// The groups as words with their counts, the largest first.
    pub fn groups(&self) -> Vec<(String, u64)> {
        let mut groups: Vec<_> = self
            .counts
            .iter()
            .map(|(cause, n)| (cause.to_string(), *n))
            .collect();
        if self.n_others > 0 {
            groups.push(("other causes".to_owned(), self.n_others));
        }
        groups.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_bounded_and_sorted() {
        let mut causes = Causes::default();
        causes.count(Cause::Reset);
        (0..3).for_each(|_| causes.count(Cause::Refused));
        (0..60).for_each(|n| causes.count(Cause::of_disconnect(&n.to_string())));
        let groups = causes.groups();
        assert_eq!((groups.len(), causes.total()), (MAX_GROUPS + 1, 64));
        assert_eq!(
            groups[..2],
            [("other causes".into(), 12), ("connection refused".into(), 3)]
        );
    }
}
