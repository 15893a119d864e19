//! The flags that every load test has, whatever makes its load.

use clap::{Args, ValueEnum};
use plimsoll_shootout as shootout;

use super::{commands::CommandFlags, errors::ErrorFlags, memory_check::MemoryFlags, rest::HostName};
use crate::{
    exit::Failure,
    live::{LiveFlags, PageFlags},
    report::ReportFlags,
    runs::SaveFlags,
    series::{RepeatFlags, SeriesFlags},
    watching::{self, WatchArgs},
};

/// The results of a run, their places, and the output during the run.
#[derive(Clone, Debug, Args)]
pub(crate) struct SessionFlags {
    /// Write all samples to an output: json=samples.json, csv=samples.csv, prometheus-rw, opentelemetry, influxdb or
    /// statsd; may be given several times.
    #[arg(long, value_name = "NAME[=ARGUMENT]", help_heading = "Results")]
    pub(crate) out: Vec<String>,
    #[command(flatten, next_help_heading = "Results")]
    pub(crate) report: ReportFlags,
    /// How to print the result.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = "Results")]
    pub(crate) format: Format,
    #[command(flatten, next_help_heading = "Results")]
    pub(crate) watch: WatchArgs,
    #[command(flatten, next_help_heading = "Results")]
    pub(crate) save: SaveFlags,
    #[command(flatten)]
    pub(super) errors: ErrorFlags,
    #[command(flatten, next_help_heading = "Comparison")]
    repeat: RepeatFlags,
    #[command(flatten, next_help_heading = "Load")]
    pub(super) memory: MemoryFlags,
    #[command(flatten, next_help_heading = "Load")]
    pub(super) commands: CommandFlags,
    /// Print no progress.
    #[arg(long, short, conflicts_with = "tui", help_heading = "Progress and control")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) live: LiveFlags,
    #[command(flatten)]
    pub(super) page: PageFlags,
    /// Print no colours.
    #[arg(long, help_heading = "Progress and control")]
    pub(crate) no_color: bool,
    /// Let programs on this machine monitor and control the run at this address, for example localhost:6565.
    #[arg(long, short, value_name = "HOST:PORT", help_heading = "Progress and control")]
    pub(crate) address: Option<String>,
    /// Names of this machine under which others may monitor and control the run, for example load-service-*; --address may
    /// be any address then. With commas, or several times.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        requires = "address",
        help_heading = "Progress and control"
    )]
    pub(crate) address_hosts: Vec<HostName>,
    /// Keep --address open after the run, until a signal.
    #[arg(long, short, help_heading = "Progress and control")]
    pub(crate) linger: bool,
}

impl SessionFlags {
    /// Checks what can be wrong before the server is asked for anything.
    ///
    /// # Errors
    /// A report that could not be written, a wrong command, or a watched target that is not there.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.report.check()?;
        self.commands.plan()?;
        Ok(watching::check(&self.watch.targets)?)
    }

    /// Whether a run in which everything failed ends well.
    pub(crate) fn ignores_failures(&self) -> bool {
        self.errors.are_ignored()
    }

    /// The flags that decide about a series of runs.
    pub(crate) fn series(&self) -> SeriesFlags<'_> {
        SeriesFlags {
            repeat: &self.repeat,
            report: &self.report,
            is_json: self.format == Format::Json,
            is_quiet: self.quiet,
            no_color: self.no_color,
            lingers: self.linger,
        }
    }
}

impl From<Format> for shootout::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}

/// Forms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON object with all results of the run.
    Json,
}
