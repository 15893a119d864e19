//! A k6 script as a load test.

use std::{fmt, io, path::Path};

use plimsoll_load::{plan::Plan, preflight::UserKind, threshold::Rules};
use plimsoll_report::{SummaryMode, summary::Kind};
use plimsoll_script::{Redaction, Script, Stages, Users as ScriptUsers};
use serde_json::Value;

use super::{
    config_file::ConfigFile,
    layers::{Consolidated, Layers},
    options::Options,
    results::Results,
    script, verdict,
};
use crate::{
    exit::{Failure, Status, TestFailure},
    session::{self, Beginning, Finished, LoadTest, LogSettings, Session, Subject, Users},
    surroundings::Surroundings,
    terminal,
};

/// A script that is about to run.
struct ScriptTest<'a> {
    flags: &'a Options,
    /// The script as the user named it.
    name: String,
    plan: Plan,
}

/// Reads everything, runs the test and prints its result. To be polled on a `LocalSet`.
pub(super) async fn conduct(flags: &Options, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    flags.unsupported.refuse().map_err(Failure::Usage)?;
    let file = ConfigFile::find(flags.reading.config.as_deref(), surroundings).map_err(invalid)?;
    let beginning = Beginning {
        log: LogSettings {
            output: &flags.talk.log_output,
            format: flags.talk.log_format,
            is_verbose: flags.talk.verbose,
        },
        outputs: &file.outputs.clone(),
        redaction: Redaction::default(),
        lingers: file.linger,
    };
    let session = Session::begin(&flags.session, beginning, surroundings)?;
    let layers = Layers::read(file, surroundings, &flags.options).map_err(invalid)?;
    let (test, users) = prepare(flags, &layers, &session, surroundings).await?;
    session.run(test, users).await
}

async fn prepare<'a>(
    flags: &'a Options,
    layers: &Layers,
    session: &Session<'_>,
    surroundings: &Surroundings<'_>,
) -> Result<(ScriptTest<'a>, Users<Stages>), Failure> {
    let (script, consolidated) = read(flags, layers, surroundings, session.redaction()).await?;
    for warning in &consolidated.warnings {
        tracing::warn!("{warning}");
    }
    if flags.reading.is_base() {
        tracing::warn!("--compatibility-mode base has no effect: scripts have all that the other mode has.");
    }
    if let Some(path) = consolidated.options.get("consoleOutput").and_then(Value::as_str) {
        session.console().redirect(Path::new(path))?;
    }
    let mut plan = consolidated.plan;
    if flags.results.no_thresholds {
        plan.thresholds = Rules::new();
    }
    let ScriptUsers {
        mut registry,
        factory,
        stages,
    } = script.users(script::effective(consolidated.options, &plan));
    if flags.results.summary_mode == SummaryMode::Full || !flags.session.report.is_empty() {
        registry.break_down();
    }
    let test = ScriptTest {
        flags,
        name: flags.script.display().to_string(),
        plan,
    };
    let users = Users {
        registry,
        factory,
        stages,
    };
    Ok((test, users))
}

/// Reads the script, and its options below those of all other layers.
async fn read(
    flags: &Options,
    layers: &Layers,
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) -> Result<(Script, Consolidated), Failure> {
    let name = flags.script.display().to_string();
    let script = script::read(&flags.script, &flags.reading, true, surroundings, redaction).await?;
    let of_script = script::options(&script).map_err(invalid)?;
    let consolidated = layers.consolidate(&name, &of_script).map_err(invalid)?;
    script::check_functions(&script, &name, &consolidated.plan).map_err(invalid)?;
    Ok((script, consolidated))
}

/// Reads a script and its options, and runs nothing; returns what a run would warn of.
pub(super) fn check(flags: &Options, surroundings: &Surroundings<'_>) -> Result<Vec<String>, Failure> {
    let file = ConfigFile::find(flags.reading.config.as_deref(), surroundings).map_err(invalid)?;
    let layers = Layers::read(file, surroundings, &flags.options).map_err(invalid)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let redaction = Redaction::default();
    let (_, consolidated) = runtime.block_on(read(flags, &layers, surroundings, &redaction))?;
    Ok(consolidated.warnings)
}

fn invalid(reason: impl fmt::Display) -> Failure {
    TestFailure::InvalidOptions.because(reason)
}

impl LoadTest for ScriptTest<'_> {
    type Stages = Stages;

    fn subject(&self) -> Subject<'_> {
        Subject {
            kind: Kind::K6,
            name: &self.name,
            plan: &self.plan,
            user_kind: UserKind::Script,
            link: None,
        }
    }

    fn header(&self, outputs: &[String]) -> Option<String> {
        Some(session::header(&self.name, outputs, &self.plan))
    }

    async fn print(&self, finished: &Finished<'_>, stages: &Stages) -> Result<(), Failure> {
        let flags = &self.flags.session;
        let results = Results {
            flags: &self.flags.results,
            format: flags.format,
            plan: &self.plan,
            script: &self.name,
            style: session::style(flags, &io::stdout()),
            no_color: flags.no_color || terminal::is_colour_refused(),
        };
        Ok(results.tell(finished.summary, stages).await?)
    }

    fn verdict(&self, finished: &Finished<'_>) -> Result<Status, Failure> {
        match verdict::verdict(finished.result, finished.was_stopped) {
            None => Ok(Status::Success),
            Some((failure, message)) => Err(failure.because(message)),
        }
    }
}
