//! The server's log: lines on stderr.
//!
//! Nothing that becomes of these lines affects the server: they go through a queue to a thread of their own,
//! which survives every error of the output.

mod queue;
mod recent;
mod writing;

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    fs::File,
    io::{self, IsTerminal, Write},
    mem,
    os::fd::AsFd,
    panic::{self, PanicHookInfo},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use clap::ValueEnum;
use plimsoll_server::{LOG_LEVELS, Warning};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{Dispatch, dispatcher, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer, Registry,
    fmt::{self, MakeWriter},
    layer::SubscriberExt as _,
    reload,
};

use self::{queue::Queue, recent::Recent, writing::Pauses};

/// Lines that may wait. Reason: 10,000 usual ones, which is a second of `--debug` under load, or a day of the usual log.
const CAPACITY_BYTES: usize = 1 << 20;

const PAUSES: Pauses = Pauses {
    full_pipe: Duration::from_millis(10),
    error: Duration::from_millis(250),
};

/// The longest that the process waits at its end for an output that takes nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The level of the server's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Problems that need action.
    Error,
    /// Problems that an operator should look at.
    Warn,
    /// Start, stop and other rare events.
    Info,
    /// Mistakes of clients.
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

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people; in colour on a terminal, unless `NO_COLOR` is set.
    Text,
    /// One JSON object per line: timestamp, level, message, and whatever else the event carries.
    Json,
}

/// The log of this process. When it is dropped, it waits for a limited time until all lines are written.
#[derive(Debug)]
pub(crate) struct Log {
    queue: Arc<Queue>,
    control: LogControl,
}

/// What can be asked of a running log, and changed. A clone controls the same log.
#[derive(Debug, Clone)]
pub(crate) struct LogControl {
    level: reload::Handle<LevelFilter, Registry>,
    recent: Recent,
}

impl LogControl {
    /// The last warnings and errors, whatever the level; oldest first.
    pub(crate) fn recent_warnings(&self) -> Vec<Warning> {
        self.recent.list()
    }

    /// The level: one of [`LOG_LEVELS`].
    pub(crate) fn level(&self) -> &'static str {
        let level = self.level.clone_current();
        let is_it = |name: &&str| name.parse().ok() == level;
        LOG_LEVELS.into_iter().find(is_it).unwrap_or("error")
    }

    /// Changes the level to one of [`LOG_LEVELS`].
    pub(crate) fn set_level(&self, level: &str) {
        if let Ok(level) = level.parse::<LevelFilter>() {
            // It fails only when the log is gone, and the log lives as long as the process.
            let _gone = self.level.reload(level);
        }
    }
}

impl Log {
    /// Starts the log, on standard error. Panics are logged, too: the usual text of one is written by the thread that
    /// panicked, which would wait for an output that takes nothing.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub(crate) fn start(
        level: LogLevel,
        format: LogFormat,
        registry: &plimsoll_telemetry::Registry,
    ) -> io::Result<Self> {
        survive_limit_of_file_size()?;
        let n_dropped = registry.counter(
            "log_lines_dropped_total",
            "Log lines that were dropped because the output was full or failed",
        );
        let queue = Arc::new(Queue::new(CAPACITY_BYTES, n_dropped));
        let style = Style::of_process(level, format);
        start_writing(Arc::clone(&queue), style)?;
        let recent = Recent::default();
        let (level, control) = reload::Layer::new(style.level);
        let lines = style.lines(Arc::clone(&queue)).with_filter(level);
        let warnings = recent.clone().with_filter(LevelFilter::WARN);
        dispatcher::set_global_default(Registry::default().with(lines).with(warnings).into())
            .expect("a process runs one command, and that starts its log once");
        panic::set_hook(Box::new(log_panic));
        let control = LogControl {
            level: control,
            recent,
        };
        Ok(Self { queue, control })
    }

    /// What operators use.
    pub(crate) fn control(&self) -> LogControl {
        self.control.clone()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.queue.finish(PATIENCE);
    }
}

/// A log file that reaches the limit of `ulimit -f` is one that is full: without a handler the signal ends the process.
fn survive_limit_of_file_size() -> io::Result<()> {
    let exceeded = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // Handled from now on for the life of the process, even without a receiver.
    signal(exceeded).map(drop)
}

/// Starts the writing thread. The thread has its own handle, so other writers to standard error do not wait for it.
fn start_writing(queue: Arc<Queue>, style: Style) -> io::Result<()> {
    let mut output = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let notice = style.notices();
    let thread = thread::Builder::new().name("log".to_owned());
    thread.spawn(move || writing::write_all(&queue, &mut output, PAUSES, notice))?;
    Ok(())
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let backtrace = Backtrace::capture();
    let backtrace = match backtrace.status() {
        BacktraceStatus::Captured => format!("\n{backtrace}"),
        _ => String::new(),
    };
    tracing::error!("A defect of this program, in thread {name}: {panic}{backtrace}");
}

/// The style of lines.
#[derive(Debug, Clone, Copy)]
struct Style {
    level: LevelFilter,
    format: LogFormat,
    has_colour: bool,
}

impl Style {
    fn of_process(level: LogLevel, format: LogFormat) -> Self {
        let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            level: level.into(),
            format,
            has_colour: io::stderr().is_terminal() && !wants_none,
        }
    }

    /// The layer that writes an event as a line.
    fn lines(
        self,
        writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static,
    ) -> Box<dyn Layer<Registry> + Send + Sync> {
        let lines = fmt::layer().with_writer(writer).with_target(false);
        match self.format {
            LogFormat::Text => lines.with_ansi(self.has_colour).boxed(),
            LogFormat::Json => lines.json().flatten_event(true).boxed(),
        }
    }

    fn dispatch(self, writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static) -> Dispatch {
        Registry::default()
            .with(self.lines(writer).with_filter(self.level))
            .into()
    }

    /// Makes lines that say how many are missing. They do not go through the queue, where they could be dropped in turn.
    fn notices(self) -> impl Fn(u64) -> Vec<u8> {
        let buffer = Arc::new(Buffer::default());
        let dispatch = self.dispatch(Arc::clone(&buffer));
        move |n_lines| {
            dispatcher::with_default(&dispatch, || match n_lines {
                1 => tracing::error!("1 log line was dropped: the output of the log was full or failed."),
                n => tracing::error!("{n} log lines were dropped: the output of the log was full or failed."),
            });
            buffer.take()
        }
    }
}

/// Collects the written bytes.
#[derive(Debug, Default)]
struct Buffer(Mutex<Vec<u8>>);

impl Buffer {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for &Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_look_like_other_lines() {
        for (format, n_lines, expected) in [
            (
                LogFormat::Text,
                2,
                "ERROR 2 log lines were dropped: the output of the log was full or failed.\n",
            ),
            (
                LogFormat::Text,
                1,
                "ERROR 1 log line was dropped: the output of the log was full or failed.\n",
            ),
            (
                LogFormat::Json,
                3,
                "\"level\":\"ERROR\",\"message\":\"3 log lines were dropped: the output of the log was full or failed.\"}\n",
            ),
        ] {
            let style = Style {
                level: LogLevel::Error.into(),
                format,
                has_colour: false,
            };
            let line = String::from_utf8(style.notices()(n_lines)).unwrap();
            assert!(line.ends_with(expected), "{line}");
        }
    }

    #[test]
    fn operators_choose_among_the_levels_of_the_command_line() {
        let names = LogLevel::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value);
        let names: Vec<_> = names.map(|level| level.get_name().to_owned()).collect();
        assert_eq!(names, LOG_LEVELS);
    }

    #[test]
    fn panics_are_logged() {
        let style = Style {
            level: LogLevel::Error.into(),
            format: LogFormat::Text,
            has_colour: false,
        };
        let buffer = Arc::new(Buffer::default());
        let dispatch = style.dispatch(Arc::clone(&buffer));
        let usual = panic::take_hook();
        panic::set_hook(Box::new(log_panic));
        let outcome = dispatcher::with_default(&dispatch, || panic::catch_unwind(|| panic!("no way")));
        panic::set_hook(usual);
        assert!(outcome.is_err());
        let text = String::from_utf8(buffer.take()).unwrap();
        for part in [
            "ERROR A defect of this program, in thread ",
            "logging.rs:",
            "no way",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
