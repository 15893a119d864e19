//! The flags of `plimsoll run FILE.yml`: Artillery's.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum, ValueHint};
use plimsoll_load::plan::parse_duration;
use serde_json::Value;

use crate::{
    exit::{Failure, TestFailure},
    series::{SeriesFlags, Targeted},
    session::SessionFlags,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll run config.yml                                    the load that the file describes
  plimsoll run -t ws://localhost:3334/echo config.yml        another server
  plimsoll run -e staging -v '{\"room\": \"lobby\"}' config.yml  an environment of the file, and a variable
  plimsoll run --max-duration 30s config.yml                 flows that do not end on their own
  plimsoll run -o report.json config.yml                     Artillery's JSON report

The flags are those of Artillery. A file with `config` and `scenarios` is an Artillery file; the flags for
scripts are in `plimsoll run --help`.";

/// Run a load test from an Artillery file.
#[derive(Debug, Parser)]
#[command(name = "plimsoll run", no_binary_name = true, after_help = EXAMPLES, max_term_width = 110)]
pub(in crate::run) struct Options {
    /// The file, YAML or JSON.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) test: TestFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
    #[command(flatten)]
    pub(super) session: SessionFlags,
    /// Log debug messages, too.
    #[arg(long, help_heading = "Progress and control")]
    pub(super) verbose: bool,
}

impl Options {
    /// Refuses `--out report.json`: a file alone is not an output, and `--output` is near.
    pub(super) fn refuse_report_as_output(&self) -> Result<(), Failure> {
        let is_report = |out: &&String| !out.contains('=') && out.ends_with(".json");
        match self.session.out.iter().find(is_report) {
            None => Ok(()),
            Some(file) => Err(TestFailure::InvalidOptions.because(format!(
                "--out {file}: there is no output `{file}`; --output {file} writes Artillery's report, and \
                 --out json={file} all samples"
            ))),
        }
    }
}

impl Targeted for Options {
    fn series(&self) -> SeriesFlags<'_> {
        self.session.series()
    }

    fn target(&self) -> String {
        let file = || self.file.display().to_string();
        self.test.target.clone().unwrap_or_else(file)
    }

    fn point_at(&mut self, url: &str) -> Result<(), Failure> {
        self.test.target = Some(url.to_owned());
        Ok(())
    }
}

/// The parts of the test that are not in its file.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Load test")]
pub(crate) struct TestFlags {
    /// The server, in place of config.target.
    #[arg(long, short, value_name = "URL")]
    pub(crate) target: Option<String>,
    /// Environment from config.environments.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) environment: Option<String>,
    /// Variables as JSON; they override those of the file.
    #[arg(long, short, value_name = "JSON")]
    pub(crate) variables: Option<String>,
    /// File with further variables for $env, one NAME=VALUE per line.
    #[arg(long, visible_alias = "env-file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) dotenv: Option<PathBuf>,
    /// The only scenario to run.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario_name: Option<String>,
    /// Do not verify TLS certificates.
    #[arg(long, short = 'k')]
    pub(crate) insecure: bool,
    #[command(flatten)]
    pub(crate) unsupported: Unsupported,
}

/// Which part of the file runs, and the output of its figures.
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::run) struct ResultFlags {
    /// Run a single user, instead of the phases.
    #[arg(long, short, help_heading = "Load")]
    pub(super) solo: bool,
    /// End the run after this time and interrupt active users; for flows without an end. Not in Artillery.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Load")]
    pub(super) max_duration: Option<Duration>,
    /// Write Artillery's JSON report to this file.
    #[arg(long, short, value_name = "FILE", help_heading = "Results", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// The layout of the reports.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = SummaryMode::ArtilleryV2, help_heading = "Results")]
    pub(super) summary_mode: SummaryMode,
}

/// Flags of Artillery's that are not supported.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Unsupported {
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
    #[arg(long, hide = true, value_name = "N")]
    count: Option<String>,
    #[arg(long, hide = true, value_name = "NAME")]
    name: Option<String>,
    #[arg(long, hide = true, value_name = "TAGS")]
    tags: Option<String>,
    #[arg(long, hide = true, value_name = "TEXT")]
    note: Option<String>,
}

/// Layouts of the reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum SummaryMode {
    /// Artillery's layout since 2022.
    #[default]
    ArtilleryV2,
    /// Artillery's layout before 2022.
    ArtilleryV1,
}

impl TestFlags {
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
            Ok(_) => Err(wrong(&"it is not an object")),
            Err(error) => Err(wrong(&error)),
        }
    }

    /// Refuses the first flag that is not supported, with an alternative.
    pub(in crate::run) fn refuse_unsupported(&self) -> Result<(), String> {
        let Unsupported {
            overrides,
            config,
            payload,
            platform,
            record,
            key,
            count,
            name,
            tags,
            note,
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
                "results are never sent anywhere; use --output",
            ),
            ("--count", count.is_some(), "the load comes from this machine"),
            (
                "--name",
                name.is_some(),
                "runs are named after their file; mark one with `plimsoll runs tag`",
            ),
            (
                "--tags",
                tags.is_some() || note.is_some(),
                "tag a run afterwards with `plimsoll runs tag`",
            ),
        ];
        match flags.into_iter().find(|&(_, is_set, _)| is_set) {
            Some((flag, _, instead)) => Err(format!("Artillery's flag {flag} is not supported; {instead}")),
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
    fn a_report_is_no_output() {
        let check = |arguments: &[&str], expected: Result<(), &str>| {
            let options = Options::parse_from(["a.yml"].iter().chain(arguments));
            let found = options
                .refuse_report_as_output()
                .map_err(|failure| failure.message());
            assert_eq!(found, expected.map_err(str::to_owned), "{arguments:?}");
        };
        check(&["--out", "json=a.json", "-o", "b.json"], Ok(()));
        check(
            &["--out", "a.json"],
            Err(
                "--out a.json: there is no output `a.json`; --output a.json writes Artillery's report, and \
                 --out json=a.json all samples",
            ),
        );
    }

    #[test]
    fn flags_that_are_not_supported_are_named() {
        let check = |arguments: &[&str], expected: &str| {
            let options = Options::parse_from(["a.yml"].iter().chain(arguments));
            assert_eq!(options.test.refuse_unsupported(), Err(expected.to_owned()));
        };
        check(
            &["--record"],
            "Artillery's flag --record is not supported; results are never sent anywhere; use --output",
        );
        check(
            &["-c", "b.yml"],
            "Artillery's flag --config is not supported; write `config` into the file itself",
        );
    }
}
