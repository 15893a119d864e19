//! A mistake in the options of a run.

use std::fmt;

use plimsoll_load::plan::OptionsError;

/// Invalid options: the place where they were given, and the problem. k6 ends with exit code 104.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub(super) struct Mistake {
    place: String,
    problem: String,
}

impl Mistake {
    pub(super) fn new(place: impl fmt::Display, problem: impl Into<String>) -> Self {
        Self {
            place: place.to_string(),
            problem: problem.into(),
        }
    }

    /// The error about an option in a file.
    pub(super) fn of_file(file: &str, error: &OptionsError) -> Self {
        Self::new(file, error.to_string())
    }
}
