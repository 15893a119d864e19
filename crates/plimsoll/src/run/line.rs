//! `plimsoll line`: how much a target carries. Steps of one load test, each with another load, until the greatest one is
//! found that holds the objectives; `plimsoll_line` decides which.

use std::{
    ffi::OsString,
    time::{Duration, Instant, SystemTime},
};

use plimsoll_line::{
    report::Report,
    search::{Budget, Line, Next, Search},
    step::Step,
    verdict::Verdict,
};
use plimsoll_load::preflight;
use plimsoll_script::Redaction;

use crate::{
    arguments,
    exit::{Failure, Status, TestFailure},
    runs::Keeper,
    runtime::run_local,
    session::{Basis, LogSettings},
    signals::Signals,
    surroundings::Surroundings,
};

mod attempt;
mod bench;
mod goals;
mod kept;
mod options;
mod recording;
mod steady;
mod step;
mod talk;
mod watched;
mod workload;

pub(super) use self::steady::{judged, shortage};
use self::{
    goals::Goals,
    options::{HuntFlags, NO_LOSSES, ResultFlags, Timing},
    step::{Taken, Taker},
    talk::{Present, Talk},
    watched::Watched,
    workload::{BenchTest, Workload},
};
pub(crate) use self::{options::Options, steady::SteadyLoad};

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        run_local(async {
            let results = &self.results;
            results.check()?;
            self.fleet.refuse_losses(NO_LOSSES)?;
            let basis = begin(results, self.verbose)?;
            let workload = Workload::read(&self, surroundings, basis.redaction()).await?;
            let watched = Watched::attach(&results.watch)?;
            let setup = Setup {
                flags: &self.search.hunt,
                timing: self.search.timing(),
                n_targets: watched.n_targets(),
                watched,
                name: self.name(),
                results,
                keeper: results.save.keeper(results.quiet, surroundings),
                talk: Talk::new(&basis, results.quiet, results.format),
                basis,
                workload,
            };
            setup.conduct().await
        })
    }
}

/// Searches the line of a bench; the first words of the arguments are the program, `line` and `bench`.
pub(crate) fn line_of_bench(
    arguments: &[OsString],
    surroundings: &Surroundings<'_>,
) -> Result<Status, Failure> {
    let bench::BenchSearch { flags, bench } = bench::read(arguments, surroundings)?;
    run_local(async {
        let results = &flags.results;
        results.check()?;
        let basis = begin(results, false)?;
        // For its mistakes alone: the bench watches its target itself.
        drop(Watched::attach(&results.watch)?);
        let setup = Setup {
            flags: &flags.hunt,
            timing: Timing::WHOLE,
            watched: Watched::default(),
            n_targets: usize::from(bench.trials.watched().is_some()),
            name: bench.trials.name(),
            results,
            keeper: results.save.keeper(results.quiet, surroundings),
            talk: Talk::new(&basis, results.quiet, results.format),
            basis,
            workload: Workload::Bench(BenchTest::new(bench)?),
        };
        setup.conduct().await
    })
}

/// The flags of a search of broadcasts.
#[cfg(test)]
pub(super) fn command_line_of_bench() -> clap::Command {
    bench::command_line()
}

/// Starts the log, which hides the lines of users unless a flag shows them: a search makes users fail.
fn begin(results: &ResultFlags, is_verbose: bool) -> Result<Basis, Failure> {
    let log = LogSettings {
        hides_users: !is_verbose,
        ..LogSettings::plain(is_verbose)
    };
    Ok(Basis::begin(log, Redaction::default(), results.no_color)?)
}

/// Everything that a search needs.
struct Setup<'a> {
    flags: &'a HuntFlags,
    timing: Timing,
    workload: Workload,
    watched: Watched,
    n_targets: usize,
    name: String,
    results: &'a ResultFlags,
    basis: Basis,
    keeper: Keeper,
    talk: Talk,
}

impl Setup<'_> {
    async fn conduct(self) -> Result<Status, Failure> {
        let goals = Goals::read(
            &self.flags.slo,
            self.workload.registry(),
            self.workload.thresholds(),
        )?;
        let settings = self.flags.settings(self.workload.least_load());
        let settings = settings.map_err(Failure::Usage)?;
        let search = Search::new(settings);
        let signals = Signals::listen()?;
        let notices = self.workload.notices();
        for notice in &notices {
            tracing::warn!("{notice}");
        }
        let unit = self.workload.unit();
        let (began, start) = (SystemTime::now(), Instant::now());
        let command = self.command();
        let page = &self.results.page;
        let page = page.serve_search(&self.name, signals.clone(), self.basis.screen())?;
        let talk = self.talk.on(page);
        talk.begin(unit, &goals, self.n_targets);
        let report = |found: Found| Report {
            plimsoll: env!("CARGO_PKG_VERSION"),
            command: command.clone(),
            started_at: plimsoll_report::rfc3339_secs(began),
            name: self.name.clone(),
            unit,
            objectives: goals.objectives.clone(),
            are_defaults: goals.are_defaults,
            precision: settings.precision,
            expected: settings.expected,
            line: found.line,
            steps: found.steps,
            notices: notices.iter().cloned().chain(found.loss).collect(),
        };
        let hunt = Hunt {
            open_files: preflight::raise_open_file_limit().n_connections(),
            taker: Taker {
                objectives: &goals.objectives,
                timing: self.timing,
                talk: &talk,
                signals: &signals,
            },
            talk: &talk,
            report: &report,
            workload: self.workload,
            watched: self.watched,
            search,
            steps: Vec::new(),
            start,
            max_time: self.flags.max_time,
        };
        let found = tokio::select! {
            found = hunt.run() => found?,
            never = self.basis.repeats().keep_telling() => match never {},
            () = signals.received(2) => {
                let message = "a second signal ended the search at once, so there is no result";
                return Err(TestFailure::Interrupted.because(message));
            }
        };
        self.basis.repeats().tell();
        let loss = found.loss.clone();
        let report = report(found);
        let printed = talk.finish(&report);
        // A closed standard output is no reason to lose the search.
        self.keeper
            .keep_as(&kept::entry(&report, began, start.elapsed()), || {
                Ok(report.json().to_string())
            });
        for path in &self.results.report {
            options::write_report(path, &report)?;
        }
        talk.close(&report).await;
        printed?;
        end(&report, loss)
    }

    /// The command as it was typed, without the secrets that were read.
    fn command(&self) -> Vec<String> {
        let redact = |word: &String| self.basis.redaction().redact(word).into_owned();
        arguments::typed().iter().map(redact).collect()
    }
}

/// A search in progress.
struct Hunt<'a> {
    workload: Workload,
    watched: Watched,
    search: Search,
    steps: Vec<Step>,
    taker: Taker<'a>,
    talk: &'a Talk,
    /// The report of the search so far.
    report: &'a dyn Fn(Found) -> Report,
    /// Connections that this process may open.
    open_files: u64,
    start: Instant,
    /// No step begins after this time. `None` without a limit.
    max_time: Option<Duration>,
}

/// The result of a search.
struct Found {
    line: Line,
    steps: Vec<Step>,
    /// Why the fleet could not go on. `None`: it could, or there is none.
    loss: Option<String>,
}

impl Hunt<'_> {
    async fn run(mut self) -> Result<Found, Failure> {
        loop {
            let load = match self.search.next() {
                Next::Take(load) => load,
                Next::Done(line) => return Ok(self.found(line)),
            };
            if self
                .max_time
                .is_some_and(|max_time| self.start.elapsed() >= max_time)
            {
                let line = self.search.spent(Budget::Time);
                return Ok(self.found(line));
            }
            let step = match self.take(load).await? {
                Attempted::Step(step) => step,
                Attempted::Interrupted => {
                    let line = self.search.so_far();
                    return Ok(self.found(line));
                }
                Attempted::Lost(reason) => {
                    let line = self.search.so_far();
                    return Ok(Found {
                        loss: Some(reason),
                        ..self.found(line)
                    });
                }
            };
            self.search.record(load, step.verdict);
            self.steps.push(*step);
            self.talk.step(&self.steps, self.taker.objectives);
            self.talk.show(|| {
                (self.report)(Found {
                    line: self.search.so_far(),
                    steps: self.steps.clone(),
                    loss: None,
                })
            });
        }
    }

    /// Takes one step.
    async fn take(&mut self, load: u64) -> Result<Attempted, Failure> {
        if let Some(reason) = self.workload.shortage(load, self.open_files) {
            return Ok(Attempted::of(Step::impossible(load, reason)));
        }
        let number = self.steps.len() + 1;
        let present = Present { number, load };
        let taken = self
            .workload
            .take(present, &self.taker, &mut self.watched)
            .await?;
        match taken {
            Taken::Interrupted => Ok(Attempted::Interrupted),
            Taken::Unprepared(reason) if self.steps.is_empty() => {
                Err(TestFailure::ScriptFailed.because(reason))
            }
            Taken::Unprepared(reason) => Ok(Attempted::of(Step::failed(load, reason))),
            Taken::Impossible(reason) | Taken::Lost(reason) if self.steps.is_empty() => {
                Err(TestFailure::FleetFailed.because(reason))
            }
            Taken::Impossible(reason) => Ok(Attempted::of(Step::impossible(load, reason))),
            Taken::Lost(reason) => Ok(Attempted::Lost(reason)),
            Taken::Over { step, iteration } => {
                if let Some(iteration) = iteration {
                    self.workload.learn(iteration);
                }
                Ok(Attempted::Step(step))
            }
        }
    }

    fn found(self, line: Line) -> Found {
        Found {
            line,
            steps: self.steps,
            loss: None,
        }
    }
}

/// What became of one step.
enum Attempted {
    Step(Box<Step>),
    /// A signal ended it.
    Interrupted,
    /// The fleet cannot go on.
    Lost(String),
}

impl Attempted {
    fn of(step: Step) -> Self {
        Self::Step(Box::new(step))
    }
}

/// The end of the command, after the sentence has been printed.
fn end(report: &Report, loss: Option<String>) -> Result<Status, Failure> {
    if let Some(reason) = loss {
        return Err(TestFailure::FleetFailed.because(reason));
    }
    match report.verdict() {
        Verdict::Pass => Ok(Status::Success),
        Verdict::Fail => Ok(Status::BadResult),
        Verdict::Inconclusive => Ok(Status::CannotTell),
        Verdict::Incomplete => {
            Err(TestFailure::Interrupted.because("the search was interrupted by a signal"))
        }
    }
}
