//! A mistake in the options of a run.

use std::fmt;

use plimsoll_load::plan::OptionsError;

/// Invalid options: the place where they were given, and the problem. k6 ends with exit code 104.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub(super) struct Mistake {
    place: String,
    problem: String,
    option: Option<String>,
}

impl Mistake {
    pub(super) fn new(place: impl fmt::Display, problem: impl Into<String>) -> Self {
        Self {
            place: place.to_string(),
            problem: problem.into(),
            option: None,
        }
    }

    /// Adds the option of a script: `scenarios.chat.exec`.
    pub(super) fn of_option(self, option: &str) -> Self {
        Self {
            option: Some(option.to_owned()),
            ..self
        }
    }

    /// The option, if the script's own `options` have the mistake.
    pub(super) fn option(&self) -> Option<&str> {
        self.option.as_deref()
    }

    /// The mistake in words, without its place.
    pub(super) fn problem(&self) -> &str {
        &self.problem
    }

    /// The error about an option in a file.
    pub(super) fn of_file(file: &str, error: &OptionsError) -> Self {
        Self::new(file, error.to_string())
    }
}
