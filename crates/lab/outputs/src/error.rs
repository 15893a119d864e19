//! Why an output cannot be used. All of these are known before the run.

use std::io;

use plimsoll_trust::NoAuthorities;

use crate::{outputs::NAMES, settings::HIDDEN};

/// What is wrong with `--out`.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The output does not exist.
    #[error("there is no output `{name}`{suggestion}; expected one of {}, for example `--out json=samples.json`", NAMES.join(", "))]
    Unknown {
        /// The requested name.
        name: String,
        /// The nearest name, as an addition to the sentence.
        suggestion: String,
    },
    /// k6 has the output, or had it, and Plimsoll has not.
    #[error("the output `{name}` is not built into Plimsoll; expected one of {}; {instead}", NAMES.join(", "))]
    NotBuilt {
        /// The requested name.
        name: String,
        /// What the user can do.
        instead: &'static str,
    },
    /// The part after `=`, or its absence.
    #[error("`--out {output}`: {problem}")]
    Argument {
        /// The requested name.
        output: String,
        /// The mistake and the expected value.
        problem: String,
    },
    /// An environment variable is invalid.
    #[error("{variable}=`{value}`: expected {expected}")]
    Variable {
        /// Its name.
        variable: String,
        /// Its value.
        value: String,
        /// What was expected, with an example.
        expected: String,
    },
    /// A k6 variable that Plimsoll does not support.
    #[error("{variable} is set, but {instead}")]
    Refused {
        /// Its name.
        variable: String,
        /// The missing feature, and what the user can do.
        instead: &'static str,
    },
    /// A file of certificates or keys is invalid.
    #[error("{variable}=`{path}`: {problem}; expected a PEM file that begins with -----BEGIN")]
    Pem {
        /// The variable that names it.
        variable: String,
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// The system has no list of authorities.
    #[error(transparent)]
    NoAuthorities(NoAuthorities),
    /// Two outputs would write over each other.
    #[error("two outputs write to {place}; give each its own file, for example `--out json=samples.json`")]
    SamePlace {
        /// The file.
        place: String,
    },
    /// The file cannot be created.
    #[error("`--out {output}`: cannot write to `{path}`: {error}")]
    File {
        /// The requested name.
        output: &'static str,
        /// The file.
        path: String,
        /// The system's error.
        error: io::Error,
    },
    /// The system refused a thread.
    #[error("cannot start an output: {0}")]
    Thread(io::Error),
}

impl OutputError {
    /// The error without the value of the variable, which is a secret.
    pub(crate) fn without_value(self) -> Self {
        match self {
            Self::Variable {
                variable, expected, ..
            } => Self::Variable {
                variable,
                expected,
                value: HIDDEN.to_owned(),
            },
            error => error,
        }
    }
}
