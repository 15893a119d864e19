//! What is wrong with options.

/// An invalid option: its path, the problem, and the expected value. k6 ends with exit code 104.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct OptionsError {
    /// The path: `scenarios.chat.stages[1].target`.
    pub path: String,
    /// The problem and the expected value, for people.
    pub problem: String,
}

impl OptionsError {
    /// The error with `place` instead of the option `key`, for example the name of a flag.
    #[must_use]
    pub fn at(self, key: &str, place: &str) -> Self {
        Self {
            path: self.path.replacen(key, place, 1),
            ..self
        }
    }

    /// An error at `path`.
    pub(crate) fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            problem: problem.into(),
        }
    }
}
