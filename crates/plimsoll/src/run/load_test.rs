//! A k6 script as a load test.

use std::{fmt, io, path::Path};

use plimsoll_load::{plan::Plan, preflight::UserKind, threshold::Rules};
use plimsoll_report::{SummaryMode, summary::Kind};
use plimsoll_script::{Redaction, Script, Stages, Users as ScriptUsers};
use serde_json::Value;

use super::{
    config_file::ConfigFile,
    fleet,
    layers::{Consolidated, Layers},
    options::{Options, ReadingFlags},
    results::Results,
    script, verdict,
};
use crate::{
    exit::{Failure, Status, TestFailure},
    fleet::Errand,
    session::{self, Beginning, Crowd, EngineTest, Finished, Format, LogSettings, Session, Subject, Users},
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

/// Reads everything, runs the test and prints its result. To be polled on a local runtime.
pub(super) async fn conduct(flags: &Options, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    flags.unsupported.refuse().map_err(Failure::Usage)?;
    let file = ConfigFile::find(flags.reading.config.as_deref(), surroundings).map_err(invalid)?;
    let beginning = Beginning {
        log: LogSettings {
            output: &flags.talk.log_output,
            format: flags.talk.log_format,
            is_verbose: flags.talk.verbose,
            hides_users: false,
        },
        outputs: &file.outputs.clone(),
        redaction: Redaction::default(),
        lingers: file.linger,
    };
    let session = Session::begin(&flags.session, beginning, surroundings)?;
    let layers = Layers::read(file, surroundings, &flags.options).map_err(invalid)?;
    let Prepared { test, users, errand } = prepare(flags, &layers, &session, surroundings).await?;
    match errand {
        None => session.run_on_engine(test, users).await,
        Some(errand) => session.run_on_fleet(test, users, errand).await,
    }
}

/// A script that is ready to run.
struct Prepared<'a> {
    test: ScriptTest<'a>,
    users: Users<Stages>,
    /// What a fleet has to do; `None` if the users are in this process.
    errand: Option<Errand>,
}

async fn prepare<'a>(
    flags: &'a Options,
    layers: &Layers,
    session: &Session<'_>,
    surroundings: &Surroundings<'_>,
) -> Result<Prepared<'a>, Failure> {
    let redaction = session.basis().redaction();
    let wanted = fleet::wanted(
        &flags.fleet,
        flags.fleet_secrets,
        &flags.reading,
        surroundings,
        redaction,
    )?;
    // The variables of this machine are nothing for others; those of --env are.
    let with_system = wanted.is_none();
    let reading = read(
        &flags.script,
        &flags.reading,
        with_system,
        layers,
        surroundings,
        redaction,
    );
    let (script, consolidated) = reading.await?;
    for warning in &consolidated.warnings {
        tracing::warn!("{warning}");
    }
    if flags.reading.is_base() {
        tracing::warn!("--compatibility-mode base has no effect: scripts have all that the other mode has.");
    }
    if let Some(path) = consolidated.options.get("consoleOutput").and_then(Value::as_str) {
        session.basis().console().redirect(Path::new(path))?;
    }
    let name = flags.script.display().to_string();
    let breaks_down = flags.results.summary_mode == SummaryMode::Full || !flags.session.report.is_empty();
    let pack = |wanted| {
        fleet::errand(
            wanted,
            &name,
            &script,
            &consolidated,
            breaks_down,
            flags.results.no_thresholds,
        )
    };
    let errand = wanted.map(pack).transpose().map_err(invalid)?;
    let proxies = surroundings.proxies().map_err(invalid)?;
    let mut plan = consolidated.plan;
    if flags.results.no_thresholds {
        plan.thresholds = Rules::new();
    }
    let ScriptUsers {
        mut registry,
        factory,
        stages,
    } = script.users(script::effective(consolidated.options, &plan, proxies));
    if breaks_down {
        registry.break_down();
    }
    let test = ScriptTest { flags, name, plan };
    let users = Users {
        registry,
        factory,
        stages,
    };
    Ok(Prepared { test, users, errand })
}

/// Reads the script, and its options below those of all other layers.
async fn read(
    path: &Path,
    reading: &ReadingFlags,
    with_system: bool,
    layers: &Layers,
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) -> Result<(Script, Consolidated), Failure> {
    let name = path.display().to_string();
    let script = script::read(path, reading, with_system, surroundings, redaction).await?;
    let of_script = script::options(&script).map_err(invalid)?;
    let consolidated = layers.consolidate(&name, &of_script).map_err(invalid)?;
    script::check_functions(&script, &name, &consolidated.plan).map_err(invalid)?;
    Ok((script, consolidated))
}

fn invalid(reason: impl fmt::Display) -> Failure {
    TestFailure::InvalidOptions.because(reason)
}

impl EngineTest for ScriptTest<'_> {
    type Stages = Stages;

    fn subject(&self) -> Subject<'_> {
        Subject {
            kind: Kind::K6,
            name: &self.name,
            plan: &self.plan,
            crowd: Crowd::of(UserKind::Script, &self.plan),
            leading: &[],
            link: None,
        }
    }

    fn progress(&self, outputs: &[String]) -> Option<String> {
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
        Ok(results.tell(finished, stages).await?)
    }

    fn lists_causes(&self, _: &Finished<'_>, stages: &Stages) -> bool {
        let flags = &self.flags.results;
        self.flags.session.format == Format::Text
            && !flags.no_summary
            && flags.summary_mode != SummaryMode::Disabled
            && !stages.has_handle_summary()
    }

    fn verdict(&self, finished: &Finished<'_>) -> Result<Status, Failure> {
        match verdict::verdict(finished.result, finished.ender) {
            None => Ok(Status::Success),
            Some((failure, message)) => Err(failure.because(message)),
        }
    }
}
