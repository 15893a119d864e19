//! The log lines of Cable clients, and the log level of each client.

/// The lowest level of a client's lines that are shown. k6's extension changes the level of the whole process; here a
/// client can only be made quieter than the log as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogLevel {
    /// No lines.
    Silent,
    Error,
    Warn,
    #[default]
    All,
}

impl LogLevel {
    /// Reads a name of logrus, which k6 uses.
    ///
    /// # Errors
    /// What was expected.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        match name.to_ascii_lowercase().as_str() {
            "panic" | "fatal" => Ok(Self::Silent),
            "error" => Ok(Self::Error),
            "warn" | "warning" => Ok(Self::Warn),
            "info" | "debug" | "trace" => Ok(Self::All),
            _ => Err("one of panic, fatal, error, warn, info, debug, trace".to_owned()),
        }
    }

    pub(super) fn error(self, text: &str) {
        if self >= Self::Error {
            tracing::error!(target: "cable", "{text}");
        }
    }

    pub(super) fn warn(self, text: &str) {
        if self >= Self::Warn {
            tracing::warn!(target: "cable", "{text}");
        }
    }

    pub(super) fn debug(self, text: &str) {
        if self == Self::All {
            tracing::debug!(target: "cable", "{text}");
        }
    }
}
