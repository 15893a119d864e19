//! The flags of `plimsoll run` that are not options of scripts, and how the command looks.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum, ValueHint};

use super::{
    environment::Variable, flags::OptionFlags, fleet_secrets::FleetSecrets, unsupported::UnsupportedFlags,
};
use crate::{
    exit::Failure,
    fleet::FleetFlags,
    series::{SeriesFlags, Targeted},
    session::{LogFormat, LogOutput, SessionFlags},
};

const EXAMPLES: &str = "\
Examples:
  plimsoll run chat.js                                with the options of the script
  plimsoll run -u 50 -d 30s chat.js                   50 users for half a minute instead
  plimsoll run -s 10s:100 -s 1m:100 -s 10s:0 chat.js  a ramp
  plimsoll run -e CABLE_URL=ws://localhost:3334/cable -e ROOM=lobby chat.js
  plimsoll run --out json=samples.json.gz --summary-export summary.json api.js
  plimsoll run broadcast.yml --url ws://localhost:3334/cable --scale 100
  plimsoll run --watch :3000 --watch db=cgroup:system.slice/postgresql.service chat.js
  plimsoll run --ui chat.js                           a page with charts while it goes on
  plimsoll run --fleet nats://localhost:4222 --agents 3 chat.js   on three agents (plimsoll agent)
  plimsoll run --address localhost:6565 -p api.js     then: plimsoll resume, status, scale, stats

A script to start from: plimsoll new. The flags are k6's. Options are also keys of a script's
`options` and of the configuration file, and K6_* variables; the command line overrides
the environment, which overrides the script, which overrides the file.";

/// Run a load test from a k6 script, an Artillery file or a wsdirector file.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES, mut_arg("out", |arg| arg.short('o')))]
pub(crate) struct Options {
    /// The script, JavaScript or TypeScript; - is standard input.
    #[arg(value_name = "SCRIPT", value_hint = ValueHint::FilePath)]
    pub(super) script: PathBuf,
    /// File format: k6, artillery or wsdirector, each with its own flags (plimsoll run --as wsdirector --help). Default:
    /// detected.
    #[arg(long = "as", value_name = "TOOL", help_heading = "Script")]
    pub(super) dialect: Option<String>,
    #[command(flatten)]
    pub(super) options: OptionFlags,
    #[command(flatten)]
    pub(super) reading: ReadingFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
    #[command(flatten)]
    pub(super) session: SessionFlags,
    #[command(flatten)]
    pub(super) fleet: FleetFlags,
    #[command(flatten)]
    pub(super) fleet_secrets: FleetSecrets,
    #[command(flatten)]
    pub(super) talk: TalkFlags,
    #[command(flatten)]
    pub(super) unsupported: UnsupportedFlags,
}

impl Targeted for Options {
    fn series(&self) -> SeriesFlags<'_> {
        self.session.series()
    }

    fn refuse_series(&self) -> Result<(), &'static str> {
        if self.script.as_os_str() == "-" {
            return Err(
                "only one run can read the script from standard input; save it to a file for --repeat",
            );
        }
        Ok(())
    }

    fn target(&self) -> String {
        let url = self.reading.env.iter().find_map(Variable::url);
        url.map_or_else(|| self.script.display().to_string(), str::to_owned)
    }

    /// Replaces the one variable whose value is a URL.
    fn point_at(&mut self, url: &str) -> Result<(), Failure> {
        let mut targets = self
            .reading
            .env
            .iter_mut()
            .filter(|variable| variable.url().is_some());
        match (targets.next(), targets.next()) {
            (Some(target), None) => {
                target.set(url);
                Ok(())
            }
            (None, _) => Err(Failure::Usage(
                "--against replaces the target of a script, but no variable has one; pass the target as a variable, for \
                 example -e URL=http://localhost:3000/, and use __ENV.URL in the script"
                    .to_owned(),
            )),
            (Some(one), Some(other)) => Err(Failure::Usage(format!(
                "--against replaces the one variable of --env with a URL, but {} and {} both have one; remove one of them",
                one.name(),
                other.name()
            ))),
        }
    }
}

/// How the script is read and what it sees.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Script")]
pub(super) struct ReadingFlags {
    /// Variable of __ENV, or the name of a system variable to pass on; may be given several times.
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(super) env: Vec<Variable>,
    /// Whether __ENV contains the system's environment variables. Default: true; for `inspect` false.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) include_system_env_vars: Option<bool>,
    /// Fetch no imports: https modules must be in the cache from an earlier run, or built in.
    #[arg(long)]
    pub(super) offline: bool,
    /// Source of k6/secrets: file=FILE with lines KEY=SECRET, url=urlTemplate=URL,… or mock=KEY=SECRET,…; may be given
    /// several times.
    #[arg(long, value_name = "KIND=PLACE")]
    pub(super) secret_source: Vec<String>,
    /// File with options as JSON. Default: ~/.config/k6/config.json, if it exists.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) config: Option<PathBuf>,
    /// k6's compatibility mode. All modes behave in the same way here.
    #[arg(long, value_enum, hide = true)]
    compatibility_mode: Option<CompatibilityMode>,
    /// What SCRIPT is: js or archive. Default: detected.
    #[arg(long, value_enum, value_name = "TYPE")]
    r#type: Option<ScriptType>,
}

impl ReadingFlags {
    /// Whether the script may be an archive.
    pub(super) fn may_be_archive(&self) -> bool {
        !matches!(self.r#type, Some(ScriptType::Js))
    }

    /// Whether the script is an archive, or else an error.
    pub(super) fn must_be_archive(&self) -> bool {
        matches!(self.r#type, Some(ScriptType::Archive))
    }

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

/// What a script is.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScriptType {
    Js,
    Archive,
}

/// What becomes of the summary.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(super) struct ResultFlags {
    /// The layout of the summary: compact, full, legacy or disabled.
    #[arg(long, value_name = "MODE", default_value = "compact")]
    pub(super) summary_mode: plimsoll_report::SummaryMode,
    /// Write the summary as JSON to this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) summary_export: Option<PathBuf>,
    /// Use the newer of k6's two formats for --summary-export.
    #[arg(long)]
    pub(super) new_machine_readable_summary: bool,
    /// Print no summary and do not call handleSummary(); the same as --summary-mode disabled.
    #[arg(long)]
    pub(super) no_summary: bool,
    /// Ignore the thresholds.
    #[arg(long)]
    pub(super) no_thresholds: bool,
}

/// What the log says, and where it goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Progress and control")]
pub(super) struct TalkFlags {
    /// Log debug messages, too.
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Where the log goes: stderr, stdout, none, or file=NAME.
    #[arg(long, value_name = "OUTPUT", default_value = "stderr")]
    pub(super) log_output: LogOutput,
    /// How log lines are written.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    pub(super) log_format: LogFormat,
    /// Accepted for compatibility; this program never reports usage.
    #[arg(long, hide = true)]
    no_usage_report: bool,
}
