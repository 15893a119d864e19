//! The flags of wsdirector's files: wsdirector's own, and those that all runs have.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, ValueHint};
use plimsoll_scenario::wsdirector::Voice;

use crate::{
    exit::Failure,
    fleet::FleetFlags,
    series::{SeriesFlags, Targeted},
    session::{self, Format, SessionFlags},
    trust::Insecure,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll run broadcast.yml --url ws://localhost:3334/cable
  plimsoll run broadcast.yml -u localhost:3334/cable --scale 1000
  plimsoll run --include '[{\"send\": {\"data\": \"hi\"}}, {\"receive\": {\"data\": \"hi\"}}]' -u localhost:8080/echo
  plimsoll run broadcast.yml -u localhost:3334/cable --format json

The file is wsdirector's, YAML or JSON: clients in groups, their messages and expectations, and where
all clients wait for each other. `plimsoll check broadcast.yml` reports mistakes without running it.";

/// Why `--require` is refused.
pub(crate) const NO_RUBY: &str =
    "protocols written in Ruby are not supported; expected base, action_cable or phoenix";

/// Run a scenario from a wsdirector file.
#[derive(Debug, Parser)]
#[command(name = "plimsoll run", no_binary_name = true, after_help = EXAMPLES, max_term_width = 110)]
pub(in crate::run) struct Options {
    /// The scenario.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    scenario: Option<PathBuf>,
    /// The server, as with --url.
    #[arg(value_name = "URL")]
    target: Option<String>,
    /// The server: ws://host:port/path; without a scheme it is ws://.
    #[arg(
        long,
        short,
        value_name = "URL",
        conflicts_with = "target",
        help_heading = "Load test"
    )]
    url: Option<String>,
    /// Value of :scale in the file.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000),
          help_heading = "Load test")]
    pub(super) scale: u32,
    #[command(flatten)]
    pub(super) clients: ClientFlags,
    /// Scenario file, like FILE.
    #[arg(long, short, value_name = "FILE", conflicts_with = "scenario", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Scenario as JSON or YAML text.
    #[arg(long, short, value_name = "JSON", conflicts_with_all = ["scenario", "file"])]
    include: Option<String>,
    /// Do not print timings of steps.
    #[arg(long)]
    pub(super) no_summary: bool,
    #[command(flatten)]
    pub(super) fleet: FleetFlags,
    #[command(flatten)]
    pub(super) session: SessionFlags,
    /// Print only what wsdirector prints, and end with 1 whenever something is wrong.
    #[arg(long)]
    pub(super) compat: bool,
    /// Log each step of each client; twice: its messages, too.
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// Always use colours.
    #[arg(long, short, overrides_with = "no_color", hide = true)]
    color: bool,
    /// Protocol written in Ruby; not supported.
    #[arg(long, short, value_name = "PATH", hide = true)]
    require: Option<PathBuf>,
}

/// How clients connect, and how long they wait.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load test")]
pub(in crate::run) struct ClientFlags {
    /// How long a client waits at wait_all without another client arriving.
    #[arg(long, short, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(super) timeout: Duration,
    /// Sub-protocol to offer if the file has none.
    #[arg(long, value_name = "NAME")]
    pub(super) subprotocol: Option<String>,
    #[command(flatten)]
    pub(super) insecure: Insecure,
}

/// The source of the scenario.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::run) enum Source {
    File(PathBuf),
    Text(String),
}

impl Source {
    /// The name of the source for people.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Text(_) => "--include".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds <= 86_400.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected seconds from 0 to 86400, for example 5 or 0.5".to_owned())
}

impl Options {
    /// Applies `--compat` to the flags that it implies.
    pub(super) fn be_compatible(&mut self) {
        if self.compat {
            self.session.quiet = true;
            self.no_summary = true;
        }
    }

    /// Where clients speak: on standard output as in wsdirector, or in the log when standard output is one JSON object.
    pub(super) fn voice(&self) -> Voice {
        let is_json = self.session.format == Format::Json;
        Voice::new(self.verbose > 1, move |line| {
            if is_json {
                tracing::info!(target: "scenario", "{line}");
            } else if session::print(&format!("{line}\n")).is_err() {
                // The result, which goes there, too, will report it.
                tracing::debug!("a line of a client could not be printed");
            }
        })
    }

    /// The source of the scenario, and the URL of the server.
    ///
    /// # Errors
    /// What is missing or cannot be done.
    pub(in crate::run) fn source_and_url(&self) -> Result<(Source, String), String> {
        if self.require.is_some() {
            return Err(format!("--require: {NO_RUBY}"));
        }
        // `--include` and `--file` leave the first place to the URL.
        let (source, target) = match (&self.include, &self.file) {
            (Some(text), _) => (Source::Text(text.clone()), self.target.clone()),
            (None, Some(file)) => (Source::File(file.clone()), self.target.clone()),
            (None, None) => match &self.scenario {
                Some(file) => (Source::File(file.clone()), self.target.clone()),
                None => {
                    return Err(
                        "which scenario? Expected a file, for example: plimsoll run echo.yml --url \
                                    ws://localhost:3334/cable"
                            .to_owned(),
                    );
                }
            },
        };
        let url = self.url.clone().or(target);
        let url = url.ok_or("which server? Expected --url, for example --url ws://localhost:3334/cable")?;
        Ok((source, url))
    }
}

impl Targeted for Options {
    fn series(&self) -> SeriesFlags<'_> {
        self.session.series()
    }

    fn target(&self) -> String {
        self.source_and_url()
            .map_or_else(|_| "scenario".to_owned(), |(_, url)| url)
    }

    /// Replaces the URL wherever it was given; wrong usage is reported as without a series.
    fn point_at(&mut self, url: &str) -> Result<(), Failure> {
        self.source_and_url().map_err(Failure::Usage)?;
        self.target = self.target.as_ref().map(|_| url.to_owned());
        self.url = self.url.as_ref().map(|_| url.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn scenario_and_server_have_several_places() {
        let check = |arguments: &str, expected: Result<(Source, &str), &str>| {
            let found = Options::try_parse_from(arguments.split(' '))
                .unwrap()
                .source_and_url();
            match (found, expected) {
                (Ok((source, url)), Ok(expected)) => assert_eq!((source, url.as_str()), expected),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
        };
        let file = || Source::File("a.yml".into());
        check("a.yml --url x", Ok((file(), "x")));
        check("a.yml x", Ok((file(), "x")));
        check("-f a.yml -u x", Ok((file(), "x")));
        check("-i [] -u x", Ok((Source::Text("[]".to_owned()), "x")));
        check("a.yml", Err("which server?"));
        check("-u x", Err("which scenario?"));
        check("a.yml x -r p.rb", Err("Ruby"));
    }
}
