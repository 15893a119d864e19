//! The flags of `plimsoll line`.

use std::{
    ffi::OsStr,
    ffi::OsString,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Parser, ValueEnum, ValueHint};
use plimsoll_line::{
    report::{Report, Unit},
    search::{MOST_STEPS, Settings},
};
use plimsoll_load::{plan::parse_duration, watch};
use plimsoll_report::Style;
use serde::{Deserialize, Serialize};

use super::super::{options::ReadingFlags, results::write_file};
use crate::{exit::Failure, fleet::FleetFlags, live::PageFlags, run::FleetSecrets, runs::SaveFlags};

const EXAMPLES: &str = "\
Examples:
  plimsoll line chat.js --slo 'rtt p(95)<500' --slo 'errors==0'   the number of users that meets them
  plimsoll line api.js --unit rate --slo 'http_req_duration p(99)<200' --slo 'http_req_failed rate<0.01'
  plimsoll line chat.js --slo 'rtt p(95)<500' --watch :8080 --ui  with the server's resource use, in a browser
  plimsoll line load.yml --url ws://localhost:3334/echo           an Artillery file
  plimsoll line echo.yml --url ws://localhost:3334/cable          a wsdirector file, by its :scale
  plimsoll line bench broadcast ws://localhost:8080/json          the number of clients; see line bench --help
  plimsoll line --fleet nats://localhost:4222 --agents 3 chat.js  with the load of three agents (plimsoll agent)

  plimsoll line chat.js --slo 'rtt p(95)<500' --expect 2000       a CI gate: exit code 0 if 2,000 users or more hold
  plimsoll line chat.js --max-time 10m --precision 10%            a rough answer in ten minutes at most

The load doubles until an objective fails. Then each step goes where it tells most, until the line is known
within --precision with 90 % confidence. A search that does not get there says so and how far it got. A step
in which this program itself was the bottleneck never counts as the target's limit.

Exit codes: 0 the line was found; 3 not even the smallest load holds, or the target did not recover; 4
inconclusive, or the generator was the bottleneck, so the line is higher; 105 a signal ended the search (the
results so far are printed). With --expect: 0 the line is at N or above; 3 it is below; 4 it may be either.
Other codes are those of plimsoll run.";

/// Find the largest load at which a target meets its objectives: users, or iterations per second.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The load test: a k6 script, or a file of Artillery or wsdirector.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
    /// File format: k6, artillery or wsdirector. Default: detected.
    #[arg(long = "as", value_name = "TOOL", help_heading = "Load test")]
    pub(super) dialect: Option<String>,
    /// The server, for files of Artillery and wsdirector.
    #[arg(long, value_name = "URL", help_heading = "Load test")]
    pub(super) url: Option<String>,
    /// More flags of `plimsoll run` for files of Artillery and wsdirector, for example -- -v '{"room": "lobby"}'
    #[arg(
        last = true,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Load test"
    )]
    pub(super) flags: Vec<OsString>,
    #[command(flatten)]
    pub(super) search: SearchFlags,
    #[command(flatten)]
    pub(super) fleet: FleetFlags,
    #[command(flatten)]
    pub(super) fleet_secrets: FleetSecrets,
    #[command(flatten)]
    pub(super) reading: ReadingFlags,
    #[command(flatten)]
    pub(super) results: ResultFlags,
    /// Also show console output of scripts, and why users fail.
    #[arg(long, short, help_heading = "Progress and control")]
    pub(super) verbose: bool,
}

/// The results of a search, where they go, and the progress.
#[derive(Debug, Args)]
pub(super) struct ResultFlags {
    /// Also measure the target's resource use in each step, and whether its CPU was the limit: a process id, :PORT or
    /// cgroup:PATH, with an optional NAME= in front; may be given several times.
    #[arg(long, value_name = "[NAME=]PLACE", help_heading = "Results")]
    pub(super) watch: Vec<watch::Target>,
    /// Write the result to this file, .html, .json or .txt; may be given several times.
    #[arg(long, value_name = "FILE", value_parser = report_file, help_heading = "Results", value_hint = ValueHint::FilePath)]
    pub(super) report: Vec<PathBuf>,
    /// How to print the result.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = "Results")]
    pub(super) format: Format,
    #[command(flatten, next_help_heading = "Results")]
    pub(super) save: SaveFlags,
    #[command(flatten)]
    pub(super) page: PageFlags,
    /// Print no progress within steps.
    #[arg(long, short, help_heading = "Progress and control")]
    pub(super) quiet: bool,
    /// Print no colours.
    #[arg(long, help_heading = "Progress and control")]
    pub(super) no_color: bool,
}

/// The parameters of a search over a file or script.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(super) struct SearchFlags {
    #[command(flatten)]
    pub(super) hunt: HuntFlags,
    /// Unit of the load: concurrent users, or iterations started per second. Default: the unit of the scenarios
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(super) unit: Option<UnitChoice>,
    /// Measured time of each step, in full seconds
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = step_duration)]
    step_duration: Duration,
    /// Time before the measurement in which the load grows; results of the warm-up do not count
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = warm_up)]
    warm_up: Duration,
    /// Largest number of users of a step with --unit rate
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) max_vus: u32,
}

/// The parameters of a search, for all kinds of load.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(super) struct HuntFlags {
    /// Objective, a metric and a threshold: 'rtt p(95)<500', 'errors==0'; may be given several times. Default: the
    /// thresholds of the script; without thresholds, p(95)<500 of its durations, and no failed iterations
    #[arg(long, value_name = "OBJECTIVE")]
    pub(super) slo: Vec<String>,
    /// First load to try
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = load)]
    start: u64,
    /// Largest load to try
    #[arg(long, value_name = "N", default_value_t = MOST, value_parser = load)]
    max: u64,
    /// In how many separate moments steps must confirm each end of the interval
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=9))]
    repeat: u32,
    /// How narrow the interval must be: largest distance of its ends from its middle, as a percentage
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = precision)]
    precision: f64,
    /// Largest number of steps; a search that needs more is inconclusive
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_STEPS)))]
    max_steps: u32,
    /// Begin no step after this time; a search that needs more is inconclusive. Default: no limit
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(super) max_time: Option<Duration>,
    /// Load that the target must hold: exit code 0 if the whole interval is at or above it, 3 if below, 4 if the
    /// search cannot tell
    #[arg(long, value_name = "N", value_parser = load)]
    pub(super) expect: Option<u64>,
}

/// The greatest load: a machine has fewer ports for one target, and cannot start as many iterations per second.
const MOST: u64 = 1_000_000;

/// Why each step of a search needs all agents.
pub(super) const NO_LOSSES: &str = "a step without the load of one agent says nothing about the target";

/// What a load counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum UnitChoice {
    Users,
    Rate,
}

/// Forms of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people: each step when it ends, the curve, and the line in a sentence.
    Text,
    /// One JSON object with all results of all steps.
    Json,
}

/// The parts of each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Timing {
    /// The load grows.
    pub(super) warm_up: Duration,
    /// The length of the measurement.
    pub(super) steady: Duration,
}

impl Timing {
    /// The whole of a run that has an end, within a day.
    pub(super) const WHOLE: Self = Self {
        warm_up: Duration::ZERO,
        steady: Duration::from_secs(24 * 3600),
    };

    /// The part of a run that counts, since its start.
    pub(super) fn counted(self) -> Range<Duration> {
        self.warm_up..self.warm_up + self.steady
    }

    /// Whether its end is planned.
    pub(super) fn is_planned(self) -> bool {
        self != Self::WHOLE
    }
}

impl Options {
    /// The load test, for people.
    pub(super) fn name(&self) -> String {
        self.file.display().to_string()
    }
}

impl HuntFlags {
    /// The settings of the search.
    ///
    /// # Errors
    /// When they contradict each other.
    pub(super) fn settings(&self, least: u64) -> Result<Settings, String> {
        if self.max < self.start {
            return Err(format!(
                "--max {} is below --start {}; expected --max of at least --start",
                self.max, self.start
            ));
        }
        if self.max < least {
            return Err(format!(
                "--max {} is too low: with one user for each scenario the least load is {least}",
                self.max
            ));
        }
        if let Some(expected) = self.expect.filter(|expected| *expected > self.max) {
            return Err(format!(
                "--expect {expected} is above --max {}, so it cannot be reached; expected --max of at least --expect",
                self.max
            ));
        }
        Ok(Settings {
            least,
            start: self.start,
            max: self.max,
            repeat: self.repeat,
            precision: self.precision,
            max_steps: self.max_steps,
            expected: self.expect,
        })
    }
}

impl SearchFlags {
    /// The parts of each step.
    pub(super) fn timing(&self) -> Timing {
        Timing {
            warm_up: self.warm_up,
            steady: self.step_duration,
        }
    }
}

impl From<UnitChoice> for Unit {
    fn from(choice: UnitChoice) -> Self {
        match choice {
            UnitChoice::Users => Self::Users,
            UnitChoice::Rate => Self::Rate,
        }
    }
}

impl ResultFlags {
    /// Refuses before a search a report that could not be written after it.
    ///
    /// # Errors
    /// Wrong usage.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let lacking = self.report.iter().find_map(|path| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty())?;
            (!folder.is_dir()).then_some((path, folder))
        });
        match lacking {
            None => Ok(()),
            Some((path, folder)) => Err(Failure::Usage(format!(
                "--report {}: there is no folder {}; create it first: mkdir -p {}",
                path.display(),
                folder.display(),
                folder.display()
            ))),
        }
    }
}

/// Writes a report by the ending of its file, which was checked.
pub(super) fn write_report(path: &Path, report: &Report) -> Result<(), Failure> {
    let text = match path.extension().and_then(OsStr::to_str) {
        Some("html") => report.html(),
        Some("json") => format!("{:#}\n", report.json()),
        _ => report.text(Style::PLAIN),
    };
    Ok(write_file(path, text.as_bytes())?)
}

/// A report file whose extension decides the form.
fn report_file(text: &str) -> Result<PathBuf, String> {
    match text.rsplit_once('.') {
        Some((_, "html" | "json" | "txt")) => Ok(text.into()),
        _ => Err("expected a file that ends with .html, .json or .txt, for example line.html".to_owned()),
    }
}

fn load(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(load) if (1..=MOST).contains(&load) => Ok(load),
        _ => Err(format!("expected a whole number from 1 to {MOST}")),
    }
}

fn step_duration(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("expected at least 1s".to_owned()),
        duration => Ok(duration),
    }
}

fn warm_up(text: &str) -> Result<Duration, String> {
    seconds(text)
}

/// A duration in full seconds. Workers report their metrics once per second, so steps are cut there.
fn seconds(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    if duration.subsec_nanos() == 0 && duration <= LONGEST {
        Ok(duration)
    } else {
        Err("expected full seconds up to 1h, for example 15s or 2m".to_owned())
    }
}

/// The longest part of a step. Reason: a search has twenty steps or more.
const LONGEST: Duration = Duration::from_secs(3600);

fn precision(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    percent
        .filter(|percent| (0.1..=50.0).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "expected percent from 0.1 to 50, for example 5%".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(arguments: &str) -> Result<Options, String> {
        let arguments = ["plimsoll line"].into_iter().chain(arguments.split(' '));
        Options::try_parse_from(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn a_search_has_settings() {
        let options =
            parse("a.js --start 3 --max 70 --repeat 5 --precision 2.5% --max-steps 30 --expect 60 --warm-up 0 --step-duration 1m")
                .unwrap();
        let settings = options.search.hunt.settings(1).unwrap();
        assert_eq!(
            settings,
            Settings {
                least: 1,
                start: 3,
                max: 70,
                repeat: 5,
                precision: 0.025,
                max_steps: 30,
                expected: Some(60),
            }
        );
        let timing = options.search.timing();
        assert_eq!(
            (timing.warm_up, timing.steady),
            (Duration::ZERO, Duration::from_secs(60))
        );
    }

    #[test]
    fn wrong_flags_are_told() {
        for (arguments, expected) in [
            ("a.js --start 0", "expected a whole number from 1 to 1000000"),
            ("a.js --step-duration 500ms", "expected full seconds up to 1h"),
            ("a.js --step-duration 0s", "expected at least 1s"),
            ("a.js --step-duration 2h", "expected full seconds up to 1h"),
            ("a.js --warm-up soon", "invalid value 'soon'"),
            ("a.js --precision 0%", "expected percent from 0.1 to 50"),
            ("a.js --precision 51%", "expected percent from 0.1 to 50"),
            ("a.js --repeat 0", "0 is not in 1..=9"),
            ("a.js --max-steps 121", "121 is not in 1..=120"),
            ("a.js --max-time soon", "invalid value 'soon'"),
            ("a.js --expect 0", "expected a whole number from 1 to 1000000"),
            (
                "a.js --report line.pdf",
                "expected a file that ends with .html, .json or .txt",
            ),
            ("a.js --unit clients", "[possible values: users, rate]"),
            ("a.js --watch me", "is not a watch target"),
        ] {
            let error = parse(arguments).unwrap_err();
            assert!(error.contains(expected), "{arguments}: {error}");
        }
        let settings = |arguments, least| parse(arguments).unwrap().search.hunt.settings(least).unwrap_err();
        assert!(settings("a.js --start 20 --max 10", 1).contains("--max 10 is below --start 20"));
        assert!(settings("a.js --max 10 --expect 11", 1).contains("--expect 11 is above --max 10"));
        assert!(settings("a.js --start 1 --max 2", 3).contains("the least load is 3"));
    }
}
