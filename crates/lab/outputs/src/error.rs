//! Why an output cannot be had; all of it is known before the run.

use std::io;

use plimsoll_trust::NoAuthorities;

use crate::{outputs::NAMES, settings::HIDDEN};

/// What is wrong with `--out`.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There is no such output.
    #[error("there is no output `{name}`{suggestion}; expected one of {}, for example `--out json=samples.json`", NAMES.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name, as an addition to the sentence.
        suggestion: String,
    },
    /// k6 has the output, or had it, and Plimsoll has not.
    #[error("the output `{name}` is not built into Plimsoll; expected one of {}; {instead}", NAMES.join(", "))]
    NotBuilt {
        /// What was asked for.
        name: String,
        /// What the user can do.
        instead: &'static str,
    },
    /// The part after `=`, or its absence.
    #[error("`--out {output}`: {problem}")]
    Argument {
        /// What was asked for.
        output: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// A variable of the environment.
    #[error("{variable}=`{value}`: expected {expected}")]
    Variable {
        /// Its name.
        variable: String,
        /// Its value.
        value: String,
        /// What was expected, with an example.
        expected: String,
    },
    /// A variable that k6 has and Plimsoll has not.
    #[error("{variable} is set, but {instead}")]
    Refused {
        /// Its name.
        variable: String,
        /// What is not built, and what the user can do.
        instead: &'static str,
    },
    /// A file of certificates or keys.
    #[error("{variable}=`{path}`: {problem}; expected is a file in PEM that begins with -----BEGIN")]
    Pem {
        /// The variable that names it.
        variable: String,
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// A system without authorities.
    #[error(transparent)]
    NoAuthorities(NoAuthorities),
    /// Two outputs would write over each other.
    #[error(
        "two outputs write to {place}; give each a place of its own, for example `--out json=samples.json`"
    )]
    SamePlace {
        /// The file.
        place: String,
    },
    /// The file cannot be made.
    #[error("`--out {output}`: cannot write to `{path}`: {error}")]
    File {
        /// What was asked for.
        output: &'static str,
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// The system refused a thread.
    #[error("cannot start an output: {0}")]
    Thread(io::Error),
}

impl OutputError {
    /// The same without the value of the variable, which is a secret.
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
