//! What is wrong with a template, and where.

/// The reason why a template has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// The position in the template, in bytes.
    pub(super) at: usize,
    /// What is wrong, and what to write.
    pub(super) text: String,
}

impl Problem {
    pub(super) fn new(at: usize, text: impl Into<String>) -> Self {
        Self {
            at,
            text: text.into(),
        }
    }
}
