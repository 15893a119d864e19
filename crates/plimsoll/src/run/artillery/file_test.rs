//! The run of an Artillery file: its plan, its reports, and the verdict of its checks.

use std::{
    cell::RefCell,
    fmt::Write as _,
    io::{self, IsTerminal as _},
    sync::Arc,
    time::Duration,
};

use plimsoll_load::{
    generator::Health,
    plan::Plan,
    preflight::UserKind,
    run::{Progress, RunEnd, RunResult},
};
use plimsoll_report::{
    Style, Summary,
    artillery::{Arrivals, Figures, json},
    summary::Kind,
};
use plimsoll_scenario::artillery::{Activity, Publication, Stages, Test, Users as ArtilleryUsers, Verdict};

use super::{
    super::results::write_file,
    fleet,
    gateways::Gateways,
    guard::{Breach, Guard},
    input::{Input, Source},
    library::Library,
    marks::Marking,
    names::ALL_NAMES,
    options::{Options, ResultFlags},
    quick::{Look, View, refusal_of_all},
    reports::Reports,
    slack, summary,
};
use crate::{
    exit::{Failure, Status, TestFailure},
    session::{self, Beginning, Crowd, EngineTest, Finished, Format, Session, Subject, Users},
    surroundings::Surroundings,
};

/// Where all figures are when nothing succeeded. `plimsoll quick` has these flags, too.
const ELSEWHERE: &str = "--format json, or --report FILE.html";

/// Runs the test of these files. A quick look has a view of its own in place of Artillery's reports.
pub(super) async fn conduct(
    options: &Options,
    sources: Vec<Source>,
    look: Option<Look>,
    surroundings: &Surroundings<'_>,
) -> Result<Status, Failure> {
    options.test.refuse_unsupported().map_err(Failure::Usage)?;
    options.refuse_report_as_output()?;
    options.results.check_output()?;
    let Marking {
        name,
        marks,
        warnings,
    } = Marking::of(options)?;
    let mut session = Session::begin(&options.session, Beginning::plain(options.verbose), surroundings)?;
    session.mark(marks);
    for warning in options.test.warnings().map(str::to_owned).chain(warnings) {
        tracing::warn!("{warning}");
    }
    let mut input = Input::new(&options.test);
    input.is_solo = options.results.solo;
    input.max_duration = options.results.max_duration;
    let wanted = options.fleet.wanted(surroundings)?;
    let system = input.system(surroundings)?;
    let library = match wanted {
        None => Library::of_machine(surroundings),
        Some(_) => Library::kept_of_machine(surroundings),
    };
    let test = input.read_from(&sources, &system, &library)?;
    for warning in test.warnings() {
        tracing::warn!("{warning}");
    }
    for publication in test.publications() {
        let Publication::Samples { output, environment } = publication else {
            continue;
        };
        let of_system = |name: &str| surroundings.variable(name).map(str::to_owned);
        session.publish(output, &|name| {
            environment.get(name).cloned().or_else(|| of_system(name))
        })?;
    }
    if let Some(slack) = test.slack() {
        session.basis().redaction().hide(&slack.webhook);
    }
    let gateways = Gateways::begin(&test).map_err(|error| TestFailure::InvalidOptions.because(error))?;
    let plan = test.plan().map_err(|error| Failure::Usage(error.to_string()))?;
    if plan.scenarios.is_empty() {
        return Err(Failure::Usage(
            "no user arrives before --max-duration ends the run".to_owned(),
        ));
    }
    let errand = match (wanted, library.into_kept()) {
        (Some(wanted), Some(kept)) => Some(fleet::errand(
            wanted,
            options,
            &test,
            &fleet::Read {
                sources: &sources,
                plan: &plan,
                kept: &kept,
                system: &system,
                seed: input.seed,
            },
        )?),
        _ => None,
    };
    let ArtilleryUsers {
        registry,
        factory,
        stages,
        activity,
    } = test.users();
    let screen = Arc::clone(session.basis().screen());
    let is_live = session.is_drawable() && io::stdout().is_terminal();
    let view = look.map(|look| View::new(look, Arc::clone(&screen), is_live));
    let file_test = FileTest {
        flags: &options.results,
        format: options.session.format,
        is_quiet: options.session.quiet,
        style: session::style(&options.session, &io::stdout()),
        name,
        plan,
        reports: RefCell::new(Reports::new(options, view.is_some(), &test, screen, gateways)),
        view,
        ignores_failures: options.session.ignores_failures(),
        guard: Guard::new(test.ensure()),
        test: &test,
        activity,
        over: None,
        health: Health::default(),
    };
    let users = Users {
        registry,
        factory,
        stages,
    };
    match errand {
        None => session.run_on_engine(file_test, users).await,
        Some(errand) => session.run_on_fleet(file_test, users, errand).await,
    }
}

/// A file that is about to run.
struct FileTest<'a> {
    flags: &'a ResultFlags,
    format: Format,
    is_quiet: bool,
    style: Style,
    /// The name of the run.
    name: String,
    plan: Plan,
    test: &'a Test,
    reports: RefCell<Reports<'a>>,
    /// The view in place of the printed reports; `None` prints them.
    view: Option<View>,
    /// Whether a run in which everything failed ends well.
    ignores_failures: bool,
    guard: Guard<'a>,
    activity: Arc<Activity>,
    /// The result, after the end of the run.
    over: Option<Over>,
    /// Whether the figures are the target's alone, after the end of the run.
    health: Health,
}

/// The result of a run in Artillery's terms.
struct Over {
    figures: Figures,
    /// The verdicts of the file's checks.
    verdicts: Vec<Verdict>,
}

impl EngineTest for FileTest<'_> {
    type Stages = Stages;

    fn subject(&self) -> Subject<'_> {
        Subject {
            kind: Kind::Artillery,
            name: &self.name,
            plan: &self.plan,
            crowd: Crowd::of(UserKind::Scenario, &self.plan),
            leading: &[],
            link: None,
        }
    }

    fn progress(&self, _: &[String]) -> Option<String> {
        None
    }

    fn observe(&self, progress: &Progress<'_>) {
        self.reports.borrow_mut().observe(progress);
        self.guard.observe(progress);
        if let Some(view) = &self.view {
            view.observe(progress);
        }
    }

    async fn breached(&self) {
        self.guard.wait().await;
    }

    fn finish(&mut self, result: &RunResult) {
        if let Some(view) = &self.view {
            view.clear();
        }
        let mut figures = self.reports.get_mut().finish(result);
        let n_interrupted = result.iterations.n_interrupted;
        if n_interrupted > 0 {
            // The engine's own count, which no user can record.
            figures
                .counters
                .insert("vusers.interrupted".to_owned(), n_interrupted);
        }
        let mut verdicts = self.test.ensure().judge(&|name| figures.figure(name));
        // The check that ended the run failed, even if the run's last moments made up for it.
        if let Some(breach) = self.guard.breach() {
            for verdict in verdicts.iter_mut().filter(|verdict| verdict.text == breach.check) {
                verdict.holds = false;
            }
        }
        self.over = Some(Over { figures, verdicts });
    }

    fn latency(&self, result: &RunResult) -> Option<Duration> {
        let figures = &Figures::new(result.started_at, result.duration, &result.metrics, &ALL_NAMES);
        let latencies = ["websocket.response_time", "http.response_time"].iter();
        let latencies = latencies.filter_map(|name| figures.summaries.get(*name));
        latencies
            .map(|histogram| plimsoll_report::percentile(histogram, 95.0))
            .min()
    }

    fn judged(&mut self, health: &Health) {
        self.health = health.clone();
    }

    fn complete(&self, summary: &mut Summary) {
        if let Some(view) = &self.view {
            view.name_causes(summary);
        }
        if let Some(over) = &self.over {
            summary::judge(summary, &over.verdicts, self.guard.breach());
        }
    }

    fn lists_causes(&self, finished: &Finished<'_>, _: &Stages) -> bool {
        self.is_short(finished) || (self.view.is_some() && self.format == Format::Text)
    }

    async fn print(&self, finished: &Finished<'_>, _: &Stages) -> Result<(), Failure> {
        let Some(over) = &self.over else { return Ok(()) };
        // A run without users has no figures.
        if !matches!(finished.result.end, RunEnd::SetupFailed(_)) {
            self.print_figures(finished, over)?;
        }
        if let Some(path) = self.flags.report(finished.result.started_at) {
            let report = json(&over.figures, self.reports.borrow().periods());
            let report = format!("{}\n", serde_json::to_string_pretty(&report)?);
            write_file(&path, report.as_bytes())?;
        }
        Ok(())
    }

    async fn announce(&self, finished: &Finished<'_>) {
        let gateways = self.reports.borrow_mut().take_gateways();
        gateways.finish().await;
        if let (Some(slack), Some(over)) = (self.test.slack(), &self.over) {
            let conclusion = finished.summary.conclusion.as_ref();
            let course = slack::Course {
                name: &self.name,
                exit_code: conclusion.map_or(0, |conclusion| conclusion.exit_code),
                figures: &over.figures,
                verdicts: &over.verdicts,
            };
            slack::tell(slack, course).await;
        }
    }

    fn verdict(&self, finished: &Finished<'_>) -> Result<Status, Failure> {
        let result = finished.result;
        if let RunEnd::SetupFailed(failure) = &result.end {
            let message = format!("`before` failed, so no user arrived: {failure}");
            return Err(Failure::Runtime(message.into()));
        }
        if let Some(failure) = &result.teardown_failure {
            return Err(Failure::Runtime(format!("`after` failed: {failure}").into()));
        }
        if let Some(Breach { check, after }) = self.guard.breach() {
            let secs = after.as_secs_f64();
            let message =
                format!("the check `{check}` of `ensure` failed after {secs:.1} s and ended the run");
            return Err(TestFailure::ChecksFailed.because(message));
        }
        if let RunEnd::Aborted { reason } = &result.end {
            let message =
                format!("a function needs what does not exist here, so the run was ended: {reason}");
            return Err(Failure::Runtime(message.into()));
        }
        if result.end == RunEnd::Shutdown {
            return Err(finished.ender.failure());
        }
        let Some(over) = &self.over else {
            return Ok(Status::Success);
        };
        let refusal = || refusal_of_all(&over.figures.counters);
        match self
            .view
            .as_ref()
            .filter(|_| !self.ignores_failures)
            .and_then(|_| refusal())
        {
            Some(refusal) => Err(TestFailure::BadResult.because(refusal)),
            None => over.verdict(),
        }
    }
}

impl FileTest<'_> {
    /// Whether the result is short: nothing succeeded, and no flag asks for Artillery's layout.
    fn is_short(&self, finished: &Finished<'_>) -> bool {
        finished.is_futile
            && self.flags.summary_mode.is_none()
            && self.format == Format::Text
            && !self.is_quiet
    }

    fn print_figures(&self, finished: &Finished<'_>, over: &Over) -> Result<(), Failure> {
        if self.format == Format::Json {
            let document = plimsoll_report::json(finished.summary)?;
            return Ok(session::print(&format!("{document}\n"))?);
        }
        if let Some(view) = &self.view {
            return self.print_view(view, finished, over);
        }
        if self.is_short(finished) {
            let text = finished.summary.futility(ELSEWHERE, self.style);
            return Ok(session::print(&text)?);
        }
        self.reports.borrow().print_summary(&over.figures);
        if self.is_quiet {
            return Ok(());
        }
        let mut text = format!("\n{}", self.arrivals(finished.result, over));
        // Writing to a string cannot fail.
        for target in &finished.summary.targets {
            let _ = write!(text, "\n{}", target.text());
        }
        for notice in &finished.result.notices {
            let _ = writeln!(text, "  {notice}");
        }
        if let Some((score, rank)) = over.figures.apdex() {
            let _ = writeln!(text, "\nApdex score: {score:.3} ({rank})");
        }
        text.push_str(&checks(&over.verdicts));
        Ok(session::print(&text)?)
    }

    fn print_view(&self, view: &View, finished: &Finished<'_>, over: &Over) -> Result<(), Failure> {
        if self.is_quiet {
            return Ok(());
        }
        let mut text = view.text(
            finished.result,
            finished.summary,
            &over.figures.counters,
            self.style,
        );
        // Writing to a string cannot fail.
        for target in &finished.summary.targets {
            let _ = write!(text, "\n{}", target.text());
        }
        for notice in &finished.result.notices {
            let _ = writeln!(text, "  {notice}");
        }
        Ok(session::print(&text)?)
    }

    fn arrivals(&self, result: &RunResult, over: &Over) -> String {
        let figures = &over.figures;
        let n_following = self.activity.n_following();
        let arrivals = Arrivals {
            n_due: self.test.n_due(result.duration),
            n_created: figures.counter("vusers.created").saturating_sub(n_following),
            n_following,
            n_skipped: figures.counter("vusers.skipped"),
            lateness: figures.summaries.get("vusers.lateness").cloned(),
            most_active: self.activity.peak(),
            n_interrupted: result.iterations.n_interrupted,
        };
        arrivals.text(&self.health)
    }
}

impl Over {
    fn verdict(&self) -> Result<Status, Failure> {
        let n_unexpected = self.figures.counter("plugins.expect.failed");
        if n_unexpected > 0 {
            let message = format!("{n_unexpected} expectations of `expect` were not met");
            return Err(TestFailure::ExpectationsFailed.because(message));
        }
        let is_missed = |verdict: &&Verdict| verdict.is_strict && !verdict.holds;
        let n_failed = self.verdicts.iter().filter(is_missed).count();
        if n_failed > 0 {
            let message = format!("{n_failed} of {} checks of `ensure` failed", self.verdicts.len());
            return Err(TestFailure::ChecksFailed.because(message));
        }
        Ok(Status::Success)
    }
}

/// The checks as Artillery's plugin prints them.
fn checks(verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    if !verdicts.is_empty() {
        text.push_str("\nChecks:\n");
    }
    for Verdict {
        text: check,
        holds,
        is_strict,
    } in verdicts
    {
        let (word, note) = (
            if *holds { "ok" } else { "fail" },
            if *is_strict { "" } else { " (optional)" },
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{word}: {check}{note}");
    }
    text
}
