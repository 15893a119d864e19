//! The log of a run: the output of the script's `console`, its exceptions, and messages of the program.
//!
//! The lines are k6's (`INFO[0003] hello  source=console`), and go where k6's `--log-output` says.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt::{self, Debug},
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    str::FromStr,
    sync::{Arc, Mutex, Once, OnceLock, PoisonError},
    time::{Instant, SystemTime},
};

use clap::ValueEnum;
use plimsoll_report::rfc3339;
use plimsoll_script::Redaction;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, format::Writer},
    registry::LookupSpan,
};

use crate::screen::Screen;

mod repeats;

use self::repeats::REPEATS;
pub(crate) use self::repeats::Repeats;

/// The target of lines from scripts' `console`.
const CONSOLE: &str = "console";

/// The beginning of targets whose lines are never written: what matters of them, the fleet says itself.
const OF_LIBRARY: &str = "async_nats";

/// The targets of lines about virtual users: their `console`, failures and steps.
const OF_USERS: [&str; 4] = [CONSOLE, "script", "cable", "scenario"];

/// The column at which k6 writes the fields after a message.
const MESSAGE_WIDTH: usize = 44;

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people: level, seconds since the start, message.
    #[default]
    Text,
    /// One JSON object per line: time, level, msg, source.
    Json,
    /// The message alone.
    Raw,
}

/// The output of log lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogOutput {
    #[default]
    Stderr,
    Stdout,
    None,
    File(PathBuf),
}

impl FromStr for LogOutput {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected stderr, stdout, none, or a file such as file=run.log";
        match text.split_once('=') {
            None => match text {
                "stderr" => Ok(Self::Stderr),
                "stdout" => Ok(Self::Stdout),
                "none" => Ok(Self::None),
                "loki" => Err(format!("log output to Loki is not supported; {expected}")),
                _ => Err(expected.to_owned()),
            },
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            Some(("loki", _)) => Err(format!("log output to Loki is not supported; {expected}")),
            Some(_) => Err(expected.to_owned()),
        }
    }
}

/// The wishes of a person for the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSettings<'a> {
    pub(crate) output: &'a LogOutput,
    pub(crate) format: LogFormat,
    /// Whether lines of level debug are written.
    pub(crate) is_verbose: bool,
    /// Whether lines of virtual users are left out: a search wants users to fail.
    pub(crate) hides_users: bool,
}

impl LogSettings<'static> {
    /// Lines for people on standard error.
    pub(crate) fn plain(is_verbose: bool) -> Self {
        Self {
            output: &LogOutput::Stderr,
            format: LogFormat::Text,
            is_verbose,
            hides_users: false,
        }
    }
}

/// The parts of a log that has started.
#[derive(Clone, Debug)]
pub(crate) struct Started {
    pub(crate) console: Console,
    /// The lines that were counted instead of written.
    pub(crate) repeats: Repeats,
}

/// The log of a run.
#[derive(Debug)]
pub(super) struct Log<'a> {
    pub(super) settings: LogSettings<'a>,
    /// Whether standard error may have colours.
    pub(super) has_colour: bool,
    pub(super) screen: Arc<Screen<io::Stderr>>,
    /// The texts that no line shows.
    pub(super) redaction: Redaction,
}

/// The output of scripts' `console`, which may differ from that of other lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Console(Arc<OnceLock<Sink>>);

impl Console {
    /// Writes further lines to this file (`--console-output`).
    pub(crate) fn redirect(&self, path: &Path) -> io::Result<()> {
        let file = open(path)?;
        self.0.get_or_init(|| file);
        Ok(())
    }
}

impl Log<'_> {
    /// Starts the log of this process.
    pub(super) fn start(self) -> io::Result<Started> {
        let LogSettings {
            output,
            format,
            is_verbose,
            hides_users,
        } = self.settings;
        let (console, repeats) = (Console::default(), Repeats::default());
        let sinks = Sinks {
            console: console.clone(),
            hides_users,
            log: match output {
                LogOutput::Stderr => Sink::Screen(self.screen),
                LogOutput::Stdout => Sink::Stdout(self.screen),
                LogOutput::None => Sink::None,
                LogOutput::File(path) => open(path)?,
            },
        };
        let has_colour = self.has_colour && matches!(output, LogOutput::Stderr);
        let level = if is_verbose {
            LevelFilter::DEBUG
        } else {
            LevelFilter::INFO
        };
        tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(has_colour)
            .event_format(Lines {
                format,
                start: Instant::now(),
                redaction: self.redaction,
                hides_users,
                repeats: repeats.clone(),
            })
            .with_writer(sinks)
            .init();
        Ok(Started { console, repeats })
    }
}

fn open(path: &Path) -> io::Result<Sink> {
    let file = File::create(path).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("cannot write the log {}: {error}", path.display()),
        )
    })?;
    Ok(Sink::File(Mutex::new(file)))
}

/// The sinks by target.
struct Sinks {
    log: Sink,
    console: Console,
    hides_users: bool,
}

/// The sink of hidden lines.
static NOWHERE: Sink = Sink::None;

#[derive(Debug)]
enum Sink {
    Screen(Arc<Screen<io::Stderr>>),
    /// Standard output, which may be the same terminal as the screen.
    Stdout(Arc<Screen<io::Stderr>>),
    File(Mutex<File>),
    None,
}

impl<'a> MakeWriter<'a> for Sinks {
    type Writer = &'a Sink;

    fn make_writer(&'a self) -> Self::Writer {
        &self.log
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Self::Writer {
        let is_of_user = self.hides_users && OF_USERS.contains(&metadata.target());
        if is_of_user || metadata.target().starts_with(OF_LIBRARY) {
            return &NOWHERE;
        }
        let console = self.console.0.get().filter(|_| metadata.target() == CONSOLE);
        console.unwrap_or(&self.log)
    }
}

impl Write for &Sink {
    /// Takes whole lines: the formatter hands each over in one piece.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let written = match self {
            Sink::Screen(screen) => {
                screen.print(&String::from_utf8_lossy(lines));
                Ok(())
            }
            Sink::Stdout(screen) => screen.beside(|| io::stdout().write_all(lines)),
            Sink::File(file) => file
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .write_all(lines),
            Sink::None => Ok(()),
        };
        if let Err(error) = written {
            complain(&error);
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reports once that the log has gaps. The library would report it for every line, and panic if standard error
/// failed, too.
fn complain(error: &io::Error) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        // A closed stderr has no reader, so the error is ignored.
        let _nobody_reads = writeln!(io::stderr(), "error: cannot write the log: {error}");
    });
}

struct Lines {
    format: LogFormat,
    start: Instant,
    redaction: Redaction,
    /// Whether lines of virtual users are written nowhere, so that they need not be counted.
    hides_users: bool,
    repeats: Repeats,
}

impl Lines {
    /// Whether a line is to be written. Lines of scripts' `console` always are.
    fn writes(&self, line: &Line, target: &str) -> bool {
        if self.hides_users && OF_USERS.contains(&target) {
            return false;
        }
        line.is_console || target == REPEATS || self.repeats.is_new(line.level, &line.fields.message)
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        fields.redact(&self.redaction);
        let target = event.metadata().target();
        let mut line = Line {
            level: *event.metadata().level(),
            is_console: target == CONSOLE,
            fields,
        };
        if !self.writes(&line, target) {
            return Ok(());
        }
        if target == REPEATS && self.format != LogFormat::Json {
            // The text has the number.
            line.fields.others.clear();
        }
        match self.format {
            LogFormat::Text => line.text(&mut writer, self.start.elapsed().as_secs()),
            LogFormat::Json => line.json(&mut writer, SystemTime::now()),
            LogFormat::Raw => writeln!(writer, "{}", line.fields.message),
        }
    }
}

struct Line {
    level: Level,
    is_console: bool,
    fields: Fields,
}

/// The message of an event, and whatever else it carries.
#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, String)>,
}

impl Fields {
    fn redact(&mut self, redaction: &Redaction) {
        let others = self.others.iter_mut().map(|(_, value)| value);
        for text in others.chain([&mut self.message]) {
            if let Cow::Owned(redacted) = redaction.redact(text) {
                *text = redacted;
            }
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.others.push((name, format!("{value:?}"))),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl Line {
    fn text(&self, writer: &mut Writer<'_>, secs: u64) -> fmt::Result {
        let (label, colour) = match self.level {
            Level::ERROR => ("ERRO", "31"),
            Level::WARN => ("WARN", "33"),
            Level::INFO => ("INFO", "36"),
            Level::DEBUG | Level::TRACE => ("DEBU", "37"),
        };
        if writer.has_ansi_escapes() {
            write!(writer, "\x1b[{colour}m{label}\x1b[0m[{secs:04}] ")?;
        } else {
            write!(writer, "{label}[{secs:04}] ")?;
        }
        let others: Vec<_> = self.others().collect();
        match others.as_slice() {
            [] => writeln!(writer, "{}", self.fields.message),
            others => writeln!(
                writer,
                "{:<MESSAGE_WIDTH$}  {}",
                self.fields.message,
                others.join(" ")
            ),
        }
    }

    fn others(&self) -> impl Iterator<Item = String> {
        let source = self.is_console.then(|| "source=console".to_owned());
        let others = self
            .fields
            .others
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        others.chain(source)
    }

    fn json(&self, writer: &mut Writer<'_>, now: SystemTime) -> fmt::Result {
        let level = match self.level {
            Level::ERROR => "error",
            Level::WARN => "warning",
            Level::INFO => "info",
            Level::DEBUG | Level::TRACE => "debug",
        };
        let others = self
            .fields
            .others
            .iter()
            .map(|(name, value)| (*name, value.clone()));
        let source = self.is_console.then(|| ("source", CONSOLE.to_owned()));
        let own = [
            ("time", rfc3339(now)),
            ("level", level.to_owned()),
            ("msg", self.fields.message.clone()),
        ];
        let fields = others.chain(source).chain(own);
        // Sorted by name, as in k6. The last of equal names wins.
        let fields: BTreeMap<_, _> = fields.collect();
        let text = serde_json::to_string(&fields).map_err(|_| fmt::Error)?;
        writeln!(writer, "{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(level: Level, message: &str, others: &[(&'static str, &str)], is_console: bool) -> Line {
        Line {
            level,
            is_console,
            fields: Fields {
                message: message.to_owned(),
                others: others
                    .iter()
                    .map(|&(name, value)| (name, value.to_owned()))
                    .collect(),
            },
        }
    }

    #[test]
    fn lines_read_as_in_k6() {
        for (line, expected) in [
            (
                line(Level::INFO, "hello", &[], true),
                format!("INFO[0007] {:44}  source=console\n", "hello"),
            ),
            (line(Level::WARN, "hm", &[], false), "WARN[0007] hm\n".to_owned()),
            (
                line(Level::ERROR, "oh", &[("status", "500")], false),
                format!("ERRO[0007] {:44}  status=500\n", "oh"),
            ),
        ] {
            let mut text = String::new();
            line.text(&mut Writer::new(&mut text), 7).unwrap();
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn json_has_the_keys_of_k6() {
        let mut text = String::new();
        let line = line(Level::WARN, "a \"b\"", &[], true);
        line.json(&mut Writer::new(&mut text), SystemTime::UNIX_EPOCH)
            .unwrap();
        assert_eq!(
            text,
            "{\"level\":\"warning\",\"msg\":\"a \\\"b\\\"\",\"source\":\"console\",\"time\":\"1970-01-01T00:00:00.000Z\"}\n"
        );
    }

    #[test]
    fn outputs_are_k6s_but_for_loki() {
        for (text, expected) in [
            ("stderr", Some(LogOutput::Stderr)),
            ("stdout", Some(LogOutput::Stdout)),
            ("none", Some(LogOutput::None)),
            ("file=a=b.log", Some(LogOutput::File("a=b.log".into()))),
            ("file=", None),
            ("file", None),
            ("loki=http://localhost", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<LogOutput>().ok(), expected, "{text}");
        }
    }
}
