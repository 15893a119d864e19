//! What is wrong with options.

/// An option that cannot be: where it stands, what is wrong, what was expected. k6 ends with exit code 104.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct OptionsError {
    /// Where: `scenarios.chat.stages[1].target`.
    pub path: String,
    /// What is wrong and what was expected, for people.
    pub problem: String,
}

impl OptionsError {
    /// The same error, told of `place` instead of the option `key`: of a flag, say.
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
