//! The flags of `plimsoll run FILE.yml`: Artillery's.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum, ValueHint};
use plimsoll_load::plan::parse_duration;
use plimsoll_shootout::WatchArgs;
use serde_json::Value;

use crate::{
    exit::Failure,
    live::{LiveFlags, PageFlags},
    report::ReportFlags,
    run::memory_check::MemoryFlags,
    runs::SaveFlags,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll run config.yml                                    what the file says
  plimsoll run -t ws://localhost:3334/echo config.yml        another server
  plimsoll run -e staging -v '{\"room\": \"lobby\"}' config.yml  an environment of the file, and a variable
  plimsoll run --max-duration 30s config.yml                 flows that never end by themselves
  plimsoll run -o report.json config.yml                     Artillery's JSON report

The flags are Artillery's. A file with `config` and `scenarios` is Artillery's; scripts have the flags
of `plimsoll run --help`.";

/// Run a load test that is written as an Artillery file.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES, max_term_width = 110)]
pub(in crate::run) struct Options {
    /// The file, YAML or JSON.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
    /// The server, in place of config.target.
    #[arg(long, short, value_name = "URL")]
    pub(super) target: Option<String>,
    /// Which of config.environments is used.
    #[arg(long, short, value_name = "NAME")]
    pub(super) environment: Option<String>,
    /// The only scenario to run.
    #[arg(long, value_name = "NAME")]
    pub(super) scenario_name: Option<String>,
    /// Variables as JSON, over those of the file.
    #[arg(long, short, value_name = "JSON")]
    variables: Option<String>,
    /// More variables of $env, one NAME=VALUE per line.
    #[arg(long, visible_alias = "env-file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) dotenv: Option<PathBuf>,
    /// Believe any certificate.
    #[arg(long, short = 'k')]
    pub(super) insecure: bool,
    /// One user arrives, whatever the phases say.
    #[arg(long, short)]
    pub(super) solo: bool,
    /// End the run then, and interrupt users that are still active; for flows without an end. Not in Artillery.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(super) max_duration: Option<Duration>,
    /// Write Artillery's JSON report to this file.
    #[arg(long, short, visible_alias = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) watch: WatchArgs,
    #[command(flatten)]
    pub(super) memory: MemoryFlags,
    #[command(flatten)]
    pub(super) report: ReportFlags,
    /// The layout of the reports.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = SummaryMode::ArtilleryV2)]
    pub(super) summary_mode: SummaryMode,
    /// Print no reports.
    #[arg(long, short, conflicts_with = "tui")]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) save: SaveFlags,
    #[command(flatten)]
    pub(super) live: LiveFlags,
    #[command(flatten)]
    pub(super) page: PageFlags,
    /// Log what helps to find mistakes, too.
    #[arg(long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    unsupported: Unsupported,
}

/// Flags of Artillery's that are not supported.
#[derive(Debug, clap::Args)]
struct Unsupported {
    #[arg(long, hide = true, value_name = "JSON")]
    overrides: Option<String>,
    #[arg(long, short, hide = true, value_name = "FILE")]
    config: Option<String>,
    #[arg(long, short, hide = true, value_name = "FILE")]
    payload: Option<String>,
    #[arg(long, hide = true, value_name = "PLATFORM")]
    platform: Option<String>,
    #[arg(long, hide = true)]
    record: bool,
    #[arg(long, hide = true, value_name = "KEY")]
    key: Option<String>,
}

/// What scripts write their samples with (`--out json=samples.json`).
const OUTPUTS: [&str; 4] = ["json", "csv", "prometheus-rw", "opentelemetry"];

/// The layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SummaryMode {
    /// Artillery's since 2022.
    ArtilleryV2,
    /// The one before.
    ArtilleryV1,
}

impl Options {
    /// Those of a file without flags.
    pub(super) fn of_file(name: &str) -> Self {
        Self::parse_from(["plimsoll", name])
    }

    /// The variables of the command line.
    pub(super) fn variables(&self) -> Result<BTreeMap<String, Value>, Failure> {
        let Some(text) = &self.variables else {
            return Ok(BTreeMap::new());
        };
        let wrong = |reason: &dyn std::fmt::Display| {
            Failure::Usage(format!(
                "--variables: {reason}; expected an object as JSON, for example '{{\"room\": \"lobby\"}}'"
            ))
        };
        match serde_json::from_str(text) {
            Ok(Value::Object(variables)) => Ok(variables.into_iter().collect()),
            Ok(_) => Err(wrong(&"it is no object")),
            Err(error) => Err(wrong(&error)),
        }
    }

    /// Names the first flag that is about a whole run, where a run is only a step of a search.
    pub(in crate::run) fn refuse_reports(&self) -> Result<(), String> {
        let flags = [
            ("--output", self.output.is_some()),
            ("--max-duration", self.max_duration.is_some()),
            ("--solo", self.solo),
            ("--watch", !self.watch.targets.is_empty()),
            ("--quiet", self.quiet),
            ("--verbose", self.verbose),
            ("--summary-mode", self.summary_mode != SummaryMode::ArtilleryV2),
        ];
        match flags.into_iter().find(|&(_, is_set)| is_set) {
            Some((flag, _)) => Err(format!(
                "-- {flag}: it is about one run, and a search has many; see `plimsoll line --help` for its own flags"
            )),
            None => Ok(()),
        }
    }

    /// Names the first flag that is not supported, with what to do instead.
    pub(in crate::run) fn refuse_unsupported(&self) -> Result<(), String> {
        let output = self
            .output
            .as_ref()
            .and_then(|path| path.to_str())
            .unwrap_or_default();
        let kind = output.split_once('=').map_or(output, |(kind, _)| kind);
        if OUTPUTS.contains(&kind) {
            return Err(format!(
                "--out {output}: single samples are written of scripts only; of an Artillery file a report, for example \
                 --out report.json"
            ));
        }
        let Unsupported {
            overrides,
            config,
            payload,
            platform,
            record,
            key,
        } = &self.unsupported;
        let flags = [
            (
                "--overrides",
                overrides.is_some(),
                "use --variables or an environment of the file",
            ),
            (
                "--config",
                config.is_some(),
                "write `config` into the file itself",
            ),
            (
                "--payload",
                payload.is_some(),
                "write `config.payload` into the file",
            ),
            (
                "--platform",
                platform.is_some(),
                "the load comes from this machine",
            ),
            (
                "--record",
                *record || key.is_some(),
                "nothing is reported to anybody; use --output",
            ),
        ];
        match flags.into_iter().find(|&(_, is_set, _)| is_set) {
            Some((flag, _, instead)) => Err(format!("{flag} of Artillery's is not supported; {instead}")),
            None => Ok(()),
        }
    }
}

/// The variables of a `.env` file: `NAME=VALUE` lines, values perhaps in quotes, `#` before comments.
pub(super) fn variables_of(text: &str) -> impl Iterator<Item = (String, String)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
        let value = value.trim();
        let quoted = ['"', '\'']
            .iter()
            .find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote));
        Some((name.trim().to_owned(), quoted.unwrap_or(value).to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_file_are_read() {
        let text = "A=1\n# B=2\nexport C = 'x y'\n\nD=\"\"\nnonsense\n";
        let read: Vec<_> = variables_of(text).collect();
        let expected = [("A", "1"), ("C", "x y"), ("D", "")];
        assert_eq!(
            read,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn flags_that_are_not_supported_are_named() {
        let check = |arguments: &[&str], expected: &str| {
            let options = Options::parse_from(["run", "a.yml"].iter().chain(arguments));
            assert_eq!(options.refuse_unsupported(), Err(expected.to_owned()));
        };
        check(
            &["--record"],
            "--record of Artillery's is not supported; nothing is reported to anybody; use --output",
        );
        check(
            &["--out", "csv=samples.csv"],
            "--out csv=samples.csv: single samples are written of scripts only; of an Artillery file a report, for example \
             --out report.json",
        );
        check(
            &["-c", "b.yml"],
            "--config of Artillery's is not supported; write `config` into the file itself",
        );
    }
}
