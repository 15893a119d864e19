//! The server's log: lines on stderr.

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;

/// How much the server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What an operator must act on.
    Error,
    /// What an operator should look at.
    Warn,
    /// Start, stop and other rare events.
    Info,
    /// What clients do wrong.
    Debug,
    /// Everything.
    Trace,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// Starts the log of this process.
pub(crate) fn start(level: LogLevel) {
    let has_colour =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::from(level))
        .with_writer(io::stderr)
        .with_ansi(has_colour)
        .with_target(false)
        .init();
}
