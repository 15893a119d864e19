//! The flags of `plimsoll run FILE.yml`: Artillery's.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use clap::{Parser, ValueEnum, ValueHint};
use plimsoll_load::plan::parse_duration;
use serde_json::Value;

use crate::{
    exit::{Failure, TestFailure},
    fleet::FleetFlags,
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
    /// The file, YAML or JSON; further files are laid over it, in this order.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(super) test_files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) test: TestFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
    #[command(flatten)]
    pub(super) marks: MarkFlags,
    #[command(flatten)]
    pub(super) fleet: FleetFlags,
    #[command(flatten)]
    pub(super) session: SessionFlags,
    /// Log debug messages, too.
    #[arg(long, help_heading = "Progress and control")]
    pub(super) verbose: bool,
}

impl Options {
    /// The file that the others are laid over.
    pub(super) fn first_file(&self) -> &Path {
        self.test_files.first().map_or(Path::new(""), PathBuf::as_path)
    }

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
        let file = || self.first_file().display().to_string();
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
    pub(crate) layers: LayerFlags,
    #[command(flatten)]
    pub(crate) unsupported: Unsupported,
}

/// The layers of a test above its file.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LayerFlags {
    /// File whose values are laid over those of FILE, usually its `config`.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Values as JSON, laid over the file and its environment; lists replace those of the file.
    #[arg(long, value_name = "JSON")]
    pub(crate) overrides: Option<String>,
    /// CSV file in place of config.payload.path.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) payload: Option<PathBuf>,
    /// Further files, laid over FILE.
    #[arg(long, short, value_name = "FILE", num_args = 1.., hide = true, value_hint = ValueHint::FilePath)]
    pub(crate) input: Vec<PathBuf>,
}

impl LayerFlags {
    /// The files of a test, in the order in which they lie over each other; `named` are those without a flag.
    pub(crate) fn files<'a>(&'a self, named: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
        let files = named.iter().chain(&self.input).chain(&self.config);
        files.map(PathBuf::as_path)
    }
}

/// What a run is called, and how it is kept.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Results")]
pub(super) struct MarkFlags {
    /// Name of the run in reports and in `plimsoll runs`. Default: the file.
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Tags of the run in `plimsoll runs`, at most 10, for example team:chat,build:7; they are kept as team/chat.
    #[arg(long, value_name = "KEY:VALUE,…")]
    pub(super) tags: Option<String>,
    /// Note of the run in `plimsoll runs`.
    #[arg(long, value_name = "TEXT")]
    pub(super) note: Option<String>,
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
    /// Write Artillery's JSON report to this file, or to a file in this folder.
    #[arg(long, short, value_name = "FILE", help_heading = "Results", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// The layout of the reports; artillery-v2 unless given. A run in which nothing succeeded has a short result, and this
    /// layout if it is given.
    #[arg(long, value_enum, value_name = "MODE", help_heading = "Results")]
    pub(super) summary_mode: Option<SummaryMode>,
}

impl ResultFlags {
    /// Refuses an output that could not be written when the run is over.
    pub(super) fn check_output(&self) -> Result<(), Failure> {
        let folder = self.output.as_deref().and_then(Path::parent);
        match folder.filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            None => Ok(()),
            Some(folder) => Err(Failure::Runtime(
                format!(
                    "--output: the folder {} does not exist; create it, or name another one",
                    folder.display()
                )
                .into(),
            )),
        }
    }

    /// The file of the JSON report of a run that began at this time: in a folder with Artillery's name, in UTC.
    pub(super) fn report(&self, began: SystemTime) -> Option<PathBuf> {
        let output = self.output.as_ref()?;
        if !output.is_dir() {
            return Some(output.clone());
        }
        let at = plimsoll_report::rfc3339_secs(began)
            .replace(['-', ':', 'Z'], "")
            .replace('T', "_");
        Some(output.join(format!("artillery_report_{at}.json")))
    }
}

/// Flags of Artillery's that are not supported, with alternatives.
pub(crate) const ABSENT: [(&str, &str); 4] = [
    ("platform", "the load comes from this machine"),
    ("platform-opt", "the load comes from this machine"),
    ("record", "results are never sent anywhere; use --output"),
    ("key", "results are never sent anywhere; use --output"),
];

/// Flags of Artillery's that are not supported, or have no effect.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Unsupported {
    #[arg(long, hide = true, value_name = "PLATFORM")]
    platform: Option<String>,
    #[arg(long, hide = true, value_name = "KEY=VALUE")]
    platform_opt: Vec<String>,
    #[arg(long, hide = true)]
    record: bool,
    #[arg(long, hide = true, value_name = "KEY")]
    key: Option<String>,
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
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
            platform,
            platform_opt,
            record,
            key,
            count: _,
        } = &self.unsupported;
        let is_elsewhere = platform.as_ref().is_some_and(|platform| platform != "local");
        let are_set = [
            ("platform", is_elsewhere),
            ("platform-opt", !platform_opt.is_empty()),
            ("record", *record),
            ("key", key.is_some()),
        ];
        let is_set = |flag: &str| are_set.iter().any(|&(name, is_set)| name == flag && is_set);
        match ABSENT.iter().find(|(flag, _)| is_set(flag)) {
            Some((flag, instead)) => Err(format!("Artillery's flag --{flag} is not supported; {instead}")),
            None => Ok(()),
        }
    }

    /// Warnings of flags without effect.
    pub(in crate::run) fn warnings(&self) -> impl Iterator<Item = &'static str> {
        let count = self.unsupported.count.map(|_| {
            "--count has no effect: one process uses all processors of this machine, and Artillery multiplies the load \
             only on other platforms"
        });
        count.into_iter()
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
            &["--platform", "aws:lambda"],
            "Artillery's flag --platform is not supported; the load comes from this machine",
        );
    }
}
