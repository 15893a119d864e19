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

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people; in colour on a terminal, unless `NO_COLOR` is set.
    Text,
    /// One JSON object per line: timestamp, level, message, and whatever else the event carries.
    Json,
}

/// Starts the log of this process.
pub(crate) fn start(level: LogLevel, format: LogFormat) {
    let has_colour =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::from(level))
        .with_writer(io::stderr)
        .with_target(false);
    match format {
        LogFormat::Text => log.with_ansi(has_colour).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
