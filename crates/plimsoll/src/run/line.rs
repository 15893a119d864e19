//! `plimsoll line`: how much a target carries. Steps of one load test, each with another load, until the greatest one is
//! found that holds the objectives; `plimsoll_line` decides which.

use std::{io, sync::Arc};

use plimsoll_line::{
    objective::Objective,
    report::Report,
    search::{End, Line, Next, Search},
    step::Step,
};
use plimsoll_load::preflight;
use plimsoll_script::Redaction;
use tokio::task::LocalSet;

use super::log::{Log, LogFormat, LogOutput};
use crate::{
    arguments,
    exit::{Failure, Status, TestFailure},
    screen::Screen,
    signals::Signals,
    surroundings::Surroundings,
    terminal,
};

mod goals;
mod options;
mod recording;
mod steady;
mod step;
mod talk;
mod watched;
mod workload;

pub(crate) use self::options::Options;
use self::{
    goals::Goals,
    step::{Taken, Taker},
    talk::Talk,
    watched::Watched,
    workload::Workload,
};

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        LocalSet::new().block_on(&runtime, conduct(&self, surroundings))
    }
}

async fn conduct(options: &Options, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let (screen, is_drawable) = Screen::stderr();
    let screen = Arc::new(screen);
    let redaction = Redaction::default();
    start_log(options, &screen, redaction.clone())?;
    let workload = Workload::read(options, surroundings, &redaction).await?;
    let goals = Goals::read(&options.search.slo, &workload)?;
    let search = Search::new(
        options
            .search
            .settings(workload.least_load())
            .map_err(Failure::Usage)?,
    );
    let watched = Watched::attach(&options.watch)?;
    let talk = Talk::new(screen, is_drawable && !options.quiet, options.format);
    let signals = Signals::listen()?;
    let hunt = Hunt {
        open_files: preflight::raise_open_file_limit().n_connections(),
        objectives: &goals.objectives,
        taker: Taker {
            objectives: &goals.objectives,
            timing: options.search.timing(),
            talk: &talk,
            signals: &signals,
        },
        talk: &talk,
        workload,
        watched,
        search,
        steps: Vec::new(),
    };
    let notices = hunt.workload.notices();
    let (name, unit) = (options.name(), hunt.workload.unit());
    for notice in &notices {
        tracing::warn!("{notice}");
    }
    talk.begin(unit, &goals, hunt.watched.n_targets());
    let found = tokio::select! {
        found = hunt.run() => found?,
        () = signals.received(2) => {
            let message = "a second signal ended the search at once, so there is no result";
            return Err(TestFailure::Interrupted.because(message));
        }
    };
    let report = Report {
        plimsoll: env!("CARGO_PKG_VERSION"),
        command: arguments::typed(),
        name,
        unit,
        objectives: goals.objectives,
        are_defaults: goals.are_defaults,
        line: found.line,
        steps: found.steps,
        notices,
    };
    talk.finish(&report)?;
    for path in &options.report {
        options::write_report(path, &report)?;
    }
    end(&report)
}

fn start_log(options: &Options, screen: &Arc<Screen<io::Stderr>>, redaction: Redaction) -> io::Result<()> {
    let log = Log {
        output: &LogOutput::Stderr,
        format: LogFormat::Text,
        is_verbose: options.verbose,
        has_colour: terminal::style(&io::stderr()).color,
        screen: Arc::clone(screen),
        redaction,
        hides_users: !options.verbose,
    };
    log.start().map(drop)
}

/// A search that goes on.
struct Hunt<'a> {
    workload: Workload,
    watched: Watched,
    search: Search,
    steps: Vec<Step>,
    objectives: &'a [Objective],
    taker: Taker<'a>,
    talk: &'a Talk,
    /// Connections that this process may open.
    open_files: u64,
}

/// What a search came to.
struct Found {
    line: Line,
    steps: Vec<Step>,
}

impl Hunt<'_> {
    async fn run(mut self) -> Result<Found, Failure> {
        loop {
            let load = match self.search.next() {
                Next::Take(load) => load,
                Next::Done(line) => return Ok(self.found(line)),
            };
            let Some(step) = self.take(load).await? else {
                let line = self.search.so_far();
                return Ok(self.found(line));
            };
            self.search.record(load, step.verdict);
            self.steps.push(step);
            self.talk.step(&self.steps, self.objectives)?;
        }
    }

    /// Takes one step; `None` when a signal ended it.
    async fn take(&mut self, load: u64) -> Result<Option<Step>, Failure> {
        if let Some(reason) = self.workload.shortage(load, self.open_files) {
            return Ok(Some(Step::impossible(load, reason)));
        }
        let attempt = self.workload.attempt(load, &self.taker).await?;
        let number = self.steps.len() + 1;
        match self.taker.take(number, load, attempt, &mut self.watched).await? {
            Taken::Interrupted => Ok(None),
            Taken::Unprepared(reason) if self.steps.is_empty() => {
                Err(TestFailure::ScriptFailed.because(reason))
            }
            Taken::Unprepared(reason) => Ok(Some(Step::failed(load, reason))),
            Taken::Over { step, iteration } => {
                if let Some(iteration) = iteration {
                    self.workload.learn(iteration);
                }
                Ok(Some(step))
            }
        }
    }

    fn found(self, line: Line) -> Found {
        Found {
            line,
            steps: self.steps,
        }
    }
}

/// How the command ends; the sentence has been printed.
fn end(report: &Report) -> Result<Status, Failure> {
    match report.line.end {
        End::Found | End::Max => Ok(Status::Success),
        End::Generator => Ok(Status::CannotTell),
        End::NothingHolds | End::Degraded => Ok(Status::BadResult),
        End::Interrupted => Err(TestFailure::Interrupted.because("the search was interrupted by a signal")),
    }
}
