//! `plimsoll run FILE.yml`: scenarios that are written as wsdirector's files.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use plimsoll_load::{
    plan::Plan,
    preflight::UserKind,
    run::{RunEnd, RunResult},
};
use plimsoll_report::{Summary, summary::Kind};
use plimsoll_scenario::{
    document::{Document, Mistakes},
    wsdirector::{Connect, Outcome, Report, Scenario, Users as Clients, Voice, fill_in},
};
use serde_json::json;

use crate::{
    exit::{Failure, Status, TestFailure},
    numbers,
    runtime::run_local,
    series::lead,
    session::{self, Beginning, Crowd, EngineTest, Finished, Format, Session, Subject, Users},
    surroundings::Surroundings,
};

mod fleet;
mod options;
mod timings;

pub(crate) use self::fleet::take_part_in_wsdirector;
pub(super) use self::fleet::{Packed, errand};
#[cfg(test)]
pub(crate) use self::options::NO_RUBY;
use self::options::Options;
pub(super) use self::options::{ClientFlags, Source};

/// Runs the file that `arguments` of `plimsoll run` name.
pub(super) fn execute(arguments: &[OsString], surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let mut options: Options = numbers::parse(arguments);
    options.be_compatible();
    if let Some(outcome) = lead(&mut options, surroundings) {
        return outcome;
    }
    let outcome = run_local(conduct(&options, surroundings));
    if options.compat {
        // wsdirector has one exit code for everything that is not well.
        return outcome.map_err(|failure| Failure::Runtime(failure.message().into()));
    }
    outcome
}

/// The flags of a file.
#[cfg(test)]
pub(super) fn command_line() -> clap::Command {
    <Options as clap::CommandFactory>::command()
}

/// Reads a file without running it. Returns its mistakes.
pub(super) fn check(
    file: &Path,
    scale: u32,
    surroundings: &Surroundings<'_>,
) -> Result<Result<(), Mistakes>, Failure> {
    let scenario = read(&Source::File(file.to_owned()), scale, surroundings)?;
    Ok(scenario.map(drop))
}

async fn conduct(options: &Options, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let (source, url) = options.source_and_url().map_err(Failure::Usage)?;
    let session = Session::begin(
        &options.session,
        Beginning::plain(options.verbose > 0),
        surroundings,
    )?;
    let template = Template::read(&source, surroundings)?;
    let invalid = |mistakes: Mistakes| TestFailure::InvalidOptions.because(mistakes);
    // Once, because templates may be random.
    let text = template.filled_in(options.scale).map_err(invalid)?;
    let scenario = template.read_filled_in(&text, options.scale).map_err(invalid)?;
    let wanted = options.fleet.wanted(surroundings)?;
    let connect = connect(&options.clients, url.clone(), options.voice())?;
    let clients = match wanted {
        None => Clients::new(scenario, &connect).await?,
        Some(_) => Clients::elsewhere(scenario, &connect)?,
    };
    let plan = Plan::new(clients.plan());
    let errand = wanted.map(|wanted| {
        let clients = Packed {
            name: source.name(),
            text: &text,
            url,
            scale: options.scale,
            shows_messages: options.verbose > 1,
        };
        errand(wanted, &options.clients, clients, &plan)
    });
    let test = ScenarioTest {
        options,
        name: source.name(),
        plan,
        report: clients.report(),
        outcome: None,
    };
    let users = Users {
        factory: clients.factory(),
        stages: clients.report(),
        registry: clients.registry,
    };
    match errand.transpose()? {
        None => session.run_on_engine(test, users).await,
        Some(errand) => session.run_on_fleet(test, users, errand).await,
    }
}

fn read(
    source: &Source,
    scale: u32,
    surroundings: &Surroundings<'_>,
) -> Result<Result<Scenario, Mistakes>, Failure> {
    Ok(Template::read(source, surroundings)?.scenario(scale))
}

/// The text of a file, with the environment for its templates.
#[derive(Debug)]
pub(super) struct Template {
    name: String,
    text: String,
    environment: BTreeMap<String, String>,
}

impl Template {
    pub(super) fn read(source: &Source, surroundings: &Surroundings<'_>) -> Result<Self, Failure> {
        let text = match source {
            Source::Text(text) => text.clone(),
            Source::File(path) => {
                let text = (surroundings.read_file)(path);
                text.map_err(|error| Failure::unreadable(path, &error))?
            }
        };
        let texts = surroundings.environment.iter();
        let texts = texts.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        Ok(Self {
            name: source.name(),
            text,
            environment: texts
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        })
    }

    /// The scenario at this scale.
    ///
    /// # Errors
    /// The mistakes of its templates, or else all others.
    pub(super) fn scenario(&self, scale: u32) -> Result<Scenario, Mistakes> {
        self.read_filled_in(&self.filled_in(scale)?, scale)
    }

    /// The file as the user named it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The scenario of a text without templates.
    ///
    /// # Errors
    /// All its mistakes.
    pub(super) fn read_filled_in(&self, text: &str, scale: u32) -> Result<Scenario, Mistakes> {
        Scenario::read(&Document::read(&self.name, text)?, scale)
    }

    /// The text without templates.
    ///
    /// # Errors
    /// The mistakes of its templates.
    pub(super) fn filled_in(&self, scale: u32) -> Result<String, Mistakes> {
        let variable = |name: &str| self.environment.get(name).cloned();
        fill_in(&self.name, &self.text, scale, &variable)
    }
}

/// The URL and the options for connections of clients.
pub(super) fn connect(clients: &ClientFlags, url: String, voice: Voice) -> Result<Connect, Failure> {
    Ok(Connect {
        url,
        subprotocol: clients.subprotocol.clone(),
        tls: clients.insecure.tls(),
        barrier_timeout: clients.timeout,
        voice,
    })
}

/// A scenario that is about to run.
struct ScenarioTest<'a> {
    options: &'a Options,
    /// The scenario as the user named it.
    name: String,
    plan: Plan,
    report: Report,
    /// The outcome, after the end of the run.
    outcome: Option<Outcome>,
}

impl EngineTest for ScenarioTest<'_> {
    type Stages = Report;

    fn subject(&self) -> Subject<'_> {
        Subject {
            kind: Kind::Wsdirector,
            name: &self.name,
            plan: &self.plan,
            crowd: Crowd::of(UserKind::Scenario, &self.plan),
            leading: &[],
            link: None,
        }
    }

    fn finish(&mut self, _: &RunResult) {
        self.outcome = Some(self.report.outcome());
    }

    async fn print(&self, finished: &Finished<'_>, _: &Report) -> Result<(), Failure> {
        let Some(outcome) = &self.outcome else {
            return Ok(());
        };
        let text = match self.options.session.format {
            Format::Json => {
                let mut value = serde_json::to_value(finished.summary)?;
                value["scenario"] = json!(outcome);
                format!("{}\n", plimsoll_report::json(&value)?)
            }
            Format::Text => self.text(finished.summary, outcome),
        };
        Ok(session::print(&text)?)
    }

    fn verdict(&self, finished: &Finished<'_>) -> Result<Status, Failure> {
        if finished.result.end == RunEnd::Shutdown {
            return Err(finished.ender.failure());
        }
        match &self.outcome {
            Some(outcome) if outcome.n_failed() > 0 => {
                let message = format!("{} of {} clients failed", outcome.n_failed(), outcome.n_clients());
                Err(TestFailure::ChecksFailed.because(message))
            }
            _ => Ok(Status::Success),
        }
    }
}

impl ScenarioTest<'_> {
    /// The result as text for people.
    fn text(&self, summary: &Summary, outcome: &Outcome) -> String {
        for notice in &summary.notices {
            tracing::warn!("{notice}");
        }
        if self.options.compat {
            return outcome.in_wsdirectors_words();
        }
        let mut text = outcome.to_string();
        let table = timings::table(outcome, summary);
        if !self.options.no_summary && !table.is_empty() {
            text.push('\n');
            text.push_str(&table);
        }
        for target in &summary.targets {
            text.push('\n');
            text.push_str(&target.text());
        }
        text
    }
}
