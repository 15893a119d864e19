//! The flags of `plimsoll run` that are no options of scripts, and how the command looks.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum, ValueHint};
use plimsoll_shootout::WatchArgs;

use super::{
    environment::Variable,
    flags::OptionFlags,
    log::{LogFormat, LogOutput},
    memory_check::MemoryFlags,
    unsupported::UnsupportedFlags,
};
use crate::{
    live::{LiveFlags, PageFlags},
    report::ReportFlags,
    runs::SaveFlags,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll run chat.js                                what the script says in its options
  plimsoll run -u 50 -d 30s chat.js                   50 users for half a minute instead
  plimsoll run -s 10s:100 -s 1m:100 -s 10s:0 chat.js  a ramp
  plimsoll run -e CABLE_URL=ws://localhost:3334/cable -e ROOM=lobby chat.js
  plimsoll run --out json=samples.json.gz --summary-export summary.json api.js
  plimsoll run broadcast.yml --url ws://localhost:3334/cable --scale 100
  plimsoll run --watch :3000 --watch db=cgroup:system.slice/postgresql.service chat.js
  plimsoll run --ui chat.js                           a page with charts while it goes on
  plimsoll run --address localhost:6565 -p api.js     then: plimsoll resume, status, scale, stats

A script to start from: plimsoll new. The flags are k6's. Options are also keys of a script's
`options` and of the configuration file, and K6_* variables; the command line wins over the
environment, that over the script, and that over the file.";

/// Run a load test that is written as a k6 script, or as a file of Artillery or wsdirector.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The script, JavaScript or TypeScript; - is standard input.
    #[arg(value_name = "SCRIPT", value_hint = ValueHint::FilePath)]
    pub(super) script: PathBuf,
    /// Whose file it is: k6, artillery or wsdirector, each with flags of its own: plimsoll run --as wsdirector
    /// --help. Default: what it looks like.
    #[arg(long = "as", value_name = "TOOL", help_heading = "Script")]
    pub(super) dialect: Option<String>,
    #[command(flatten)]
    pub(super) options: OptionFlags,
    #[command(flatten)]
    pub(super) reading: ReadingFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
    #[command(flatten, next_help_heading = "Results")]
    pub(super) watch: WatchArgs,
    #[command(flatten, next_help_heading = "Load")]
    pub(super) memory: MemoryFlags,
    #[command(flatten)]
    pub(super) talk: TalkFlags,
    #[command(flatten, next_help_heading = "Results")]
    pub(super) save: SaveFlags,
    #[command(flatten)]
    pub(super) unsupported: UnsupportedFlags,
}

/// How the script is read and what it sees.
#[derive(Debug, Args)]
#[command(next_help_heading = "Script")]
pub(super) struct ReadingFlags {
    /// A variable of __ENV, or the name of one of the system's; may be given several times.
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(super) env: Vec<Variable>,
    /// Whether __ENV has the variables of the system. Default: true; for `inspect` false.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) include_system_env_vars: Option<bool>,
    /// Fetch no imports: https modules must be known from an earlier run, or be among those that are built in.
    #[arg(long)]
    pub(super) offline: bool,
    /// Where k6/secrets reads, mock=KEY=SECRET,… or file=FILE with lines KEY=SECRET; may be given several times.
    #[arg(long, value_name = "KIND=PLACE")]
    pub(super) secret_source: Vec<String>,
    /// Options as JSON. Default: ~/.config/k6/config.json, where it exists.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) config: Option<PathBuf>,
    /// k6's two kinds of JavaScript. Both are the same here.
    #[arg(long, value_enum, hide = true)]
    compatibility_mode: Option<CompatibilityMode>,
    /// What SCRIPT is.
    #[arg(long, value_parser = script_type, hide = true)]
    r#type: Option<()>,
}

impl ReadingFlags {
    /// Whether the smaller of k6's two kinds of JavaScript was asked for.
    pub(super) fn is_base(&self) -> bool {
        matches!(self.compatibility_mode, Some(CompatibilityMode::Base))
    }
}

/// k6's kinds of JavaScript.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompatibilityMode {
    Base,
    Extended,
}

fn script_type(text: &str) -> Result<(), String> {
    match text {
        "js" => Ok(()),
        "archive" => {
            Err("k6's archives are not read; unpack it with tar and run the script in it".to_owned())
        }
        _ => Err("expected js".to_owned()),
    }
}

/// What comes of the run, and where it goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(super) struct ResultFlags {
    /// Write all samples to an output: json=samples.json, csv=samples.csv, prometheus-rw or opentelemetry; may be given several times.
    #[arg(long, short, value_name = "NAME[=ARGUMENT]")]
    pub(super) out: Vec<String>,
    #[command(flatten)]
    pub(super) report: ReportFlags,
    /// How to print the result.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(super) format: Format,
    /// The layout of the summary: compact, full, legacy or disabled.
    #[arg(long, value_name = "MODE", default_value = "compact")]
    pub(super) summary_mode: plimsoll_report::SummaryMode,
    /// Write the summary as JSON to this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) summary_export: Option<PathBuf>,
    /// The file of --summary-export has the newer one of k6's two shapes.
    #[arg(long)]
    pub(super) new_machine_readable_summary: bool,
    /// Print no summary and do not call handleSummary(); the same as --summary-mode disabled.
    #[arg(long)]
    pub(super) no_summary: bool,
    /// Leave the thresholds out.
    #[arg(long)]
    pub(super) no_thresholds: bool,
}

/// Forms of a run's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON object, with everything that is known about the run.
    Json,
}

/// What is said while the run goes on, and who may control it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Progress and control")]
pub(super) struct TalkFlags {
    /// No progress.
    #[arg(long, short, conflicts_with = "tui")]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) live: LiveFlags,
    #[command(flatten)]
    pub(super) page: PageFlags,
    /// Log what helps to find mistakes, too.
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// No colours.
    #[arg(long)]
    pub(super) no_color: bool,
    /// Where the log goes: stderr, stdout, none, or file=NAME.
    #[arg(long, value_name = "OUTPUT", default_value = "stderr")]
    pub(super) log_output: LogOutput,
    /// How log lines are written.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    pub(super) log_format: LogFormat,
    /// Where this machine's own tools can watch and control the run, for example localhost:6565. Default: nowhere.
    #[arg(long, short, value_name = "HOST:PORT")]
    pub(super) address: Option<String>,
    /// When the run is over, wait for a signal: --address goes on answering.
    #[arg(long, short)]
    pub(super) linger: bool,
    /// Nothing is ever reported to anybody.
    #[arg(long, hide = true)]
    no_usage_report: bool,
}
