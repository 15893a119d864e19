//! A named yes-or-no question that virtual users answer (k6's `check`). A failed check does not fail the iteration.

/// The answers to one check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Times that it held.
    pub passes: u64,
    /// Times that it did not.
    pub fails: u64,
}

impl Check {
    pub(super) fn add(&mut self, passed: bool) {
        *(if passed { &mut self.passes } else { &mut self.fails }) += 1;
    }

    pub(super) fn merge(&mut self, other: Self) {
        // Numbers from other machines may be any.
        self.passes = self.passes.saturating_add(other.passes);
        self.fails = self.fails.saturating_add(other.fails);
    }
}

/// The identity of a check: one text in two groups makes two checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckName {
    /// Path of the group, `::outer::inner`; empty outside of groups.
    pub group: String,
    /// The text.
    pub name: String,
}
