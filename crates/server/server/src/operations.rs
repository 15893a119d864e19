//! What the process around the server tells operators, and does for them.

use std::fmt;

use serde::Serialize;

/// A setting of the process, as the page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its key in the settings file.
    pub name: &'static str,
    /// Its value as the settings file spells it. `None`: it is not set. Secrets are masked.
    pub value: Option<String>,
    /// Where the value comes from: a line of a file, a variable, the command line, or the default.
    pub origin: String,
}

impl Setting {
    /// The origin of a value that is the program's own.
    pub const BY_DEFAULT: &'static str = "default";
}

/// A line of the log that an operator should look at, or several equal ones in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The time of the last one, in Unix milliseconds.
    pub at_ms: u64,
    /// `error` or `warn`.
    pub level: &'static str,
    /// The message with its fields.
    pub text: String,
    /// How many there were, one behind the other.
    pub times: u64,
}

/// What the process around the server tells operators, and does for them. No method may wait.
pub trait Operations: Send + Sync {
    /// All settings, in the order of the settings file.
    fn settings(&self) -> &[Setting];

    /// The last warnings and errors of the log, oldest first.
    fn warnings(&self) -> Vec<Warning>;

    /// The level of the log: one of [`LOG_LEVELS`].
    fn log_level(&self) -> &'static str;

    /// Changes the level of the log until the process ends. `level` is one of [`LOG_LEVELS`].
    fn set_log_level(&self, level: &'static str);

    /// Begins the stop of the server, as a signal does. `false`: it has begun already.
    fn drain(&self) -> bool;
}

impl fmt::Debug for dyn Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Operations")
    }
}

/// The levels of the log, from the quietest on.
pub const LOG_LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];
