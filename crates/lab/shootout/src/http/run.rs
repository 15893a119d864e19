//! The coordinator: prepares a run, lets workers or agents make the requests, shows how far they are, and puts their accounts
//! together.

use std::time::{Duration, Instant, SystemTime};

use plimsoll_load::{generator::Monitor, metrics::MetricSet};
use plimsoll_report::percentile;
use tokio::{
    sync::mpsc,
    time::{MissedTickBehavior, interval, sleep_until},
};

use super::{
    error::HttpRunError,
    load::{End, Load, News},
    measures::{Measures, SampledRequest},
    options::HttpOptions,
    outcome::{HttpOutcome, Setting, threshold},
    progress::Progress,
    remote::Hub,
    squad::{Beside, Squad, groups},
    tally::Tally,
    threshold::Threshold,
    transcript::Transcript,
};
use crate::{
    execute::Company,
    interrupt::Interrupt,
    journal::Journal,
    meter::Meter,
    onlooker::{LAG, SoFar},
    remote::Agents,
    run::RunError,
};

/// The interval between readings of the workers' progress. Reason: more readings than people can follow cost the
/// generator CPU.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Makes the requests. An order to stop ends the run early with the results so far.
pub(crate) async fn run(
    options: &HttpOptions,
    company: Company<'_>,
    progress: &mut Progress<'_>,
) -> Result<HttpOutcome, HttpRunError> {
    let Company {
        mut interrupt,
        onlooker,
        samples,
        sampling,
        agents,
    } = company;
    let (measures, metrics) = Measures::new();
    let request = SampledRequest::new(
        (measures, metrics.clone()),
        samples,
        (
            options.request.method.as_str(),
            options.version,
            &options.shown_url(),
        ),
    );
    let (transcript, mut texts) = options
        .transcript
        .map(|detail| Transcript::new(detail, options.version))
        .unzip();
    let monitor = Monitor::new();
    let goes_on_without = agents.as_ref().is_some_and(|agents| agents.goes_on);
    let beside = Beside { request, transcript };
    let mut load = muster(options, beside, &monitor, agents, &mut interrupt).await?;
    let (addresses, n_workers) = match &load {
        Load::Here(squad) => {
            if texts.is_some() {
                progress.transcribe(&squad.request(options.request.method.as_str()));
            }
            (vec![squad.address()], squad.n_workers())
        }
        Load::Fleet(hub) => (Vec::new(), hub.n_workers()),
    };
    let mut meter = Meter::attach(monitor.clone(), &addresses, &options.watched, sampling)?;
    if let Some(hub) = load.hub() {
        meter.set_agents(hub.names().map(Into::into));
    }
    let open_journal = |load: &Load, n_lanes| journal(&metrics, &monitor, load, n_lanes);
    let mut n_lanes = options.concurrency;
    let mut journal = open_journal(&load, n_lanes);
    let mut tally = Tally::default();
    let mut missing = None;
    let mut is_warm = options.extent.warm_up.is_zero();
    if is_warm {
        meter.prepare();
    }
    let started = load.begin(options)?;
    let counted_from = started + options.extent.warm_up;
    let began = SystemTime::now() + counted_from.saturating_duration_since(Instant::now());
    meter.start(counted_from);
    meter.begin_lap();
    let mut counting = Box::pin(sleep_until(counted_from.into()));
    let mut show_at = counted_from + Duration::from_secs(1) + LAG;
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            text = next(&mut texts) => progress.transcribe(&text),
            news = load.next() => match news {
                Some(News::Counted(at, part)) => {
                    journal.hand_in(at, |second| measures.note(second, &part, at));
                    tally.merge(*part);
                }
                Some(News::Glanced(agent, glance)) => journal.glanced(agent, glance),
                Some(News::Lost(reason, n_left)) => {
                    progress.note(&reason);
                    missing.get_or_insert(reason);
                    n_lanes = n_left;
                    journal.users(counted_from.elapsed(), n_lanes);
                    if !goes_on_without {
                        interrupt.force();
                        load.stop(true);
                    }
                }
                // The last worker has ended.
                None => break,
            },
            _ = look.tick() => {
                if is_warm {
                    journal.reach(counted_from.elapsed());
                }
                if let Some(reading) = load.reading() {
                    progress.show(&reading, Instant::now());
                }
                if let Some(trouble) = meter.take_trouble() {
                    progress.note(&format!("{trouble}; its CPU and memory are missing"));
                }
            }
            () = sleep_until(show_at.into()) => {
                let elapsed = counted_from.elapsed();
                show_at = counted_from + Duration::from_secs(elapsed.as_secs() + 1) + LAG;
                let Some(onlooker) = onlooker.filter(|it| it.is_looking()) else {
                    continue;
                };
                journal.reach(elapsed);
                if let Some(draft) = journal.so_far() {
                    let elapsed = draft.end();
                    onlooker.show(SoFar {
                        draft,
                        plan: options.plan(),
                        n_workers,
                        thresholds: options.judge(&tally, elapsed).iter().map(threshold).collect(),
                        notices: missing.iter().cloned().collect(),
                        sampling: meter.sampling(),
                        agents: load.hub().map_or_else(Vec::new, Hub::agents),
                        has_users: false,
                    });
                }
            }
            () = &mut counting, if !is_warm => {
                is_warm = true;
                journal = open_journal(&load, n_lanes);
                meter.prepare();
                meter.start(counted_from);
                meter.begin_lap();
            }
            () = interrupt.next() => load.stop(interrupt.is_urgent()),
        }
    }
    let ended = Instant::now();
    while let Some(text) = texts.as_mut().and_then(|texts| texts.try_recv().ok()) {
        progress.transcribe(&text);
    }
    let is_elsewhere = load.hub().is_some();
    let here = (!is_elsewhere).then(|| meter.lap());
    let End {
        rest,
        document,
        trouble,
        evidence,
        shares,
    } = load.disband(options)?;
    let period = here.unwrap_or_else(|| meter.lap_of_agents(ended, evidence));
    for (at, part) in rest.tallies {
        journal.hand_in(at, |second| measures.note(second, &part, at));
        tally.merge(part);
    }
    progress.finish(tally.n_complete);
    let last_ended = tally.last_ended.unwrap_or(ended);
    let elapsed = last_ended.saturating_duration_since(counted_from);
    let unsent = "Unsent: all places were taken";
    journal.fail(elapsed, unsent, unsent, rest.n_unsent);
    let chronicle = journal.finish(elapsed);
    let targets = meter.finish(&chronicle.timeline, &[]);
    let setting = setting(options, n_workers);
    if let (None, Some(reason)) = (&document, &trouble) {
        return Err(HttpRunError::NoAnswer {
            host: setting.authority(),
            reason: reason.clone(),
            n_failed: tally.n_incomplete() + tally.n_warm_up_failed,
        });
    }
    Ok(HttpOutcome {
        findings: options.judge(&tally, elapsed),
        health: period.health(Some(percentile(&tally.total.histogram, 95.0))),
        n_unsent: rest.n_unsent,
        chronicle,
        plan: options.plan(),
        n_abandoned: rest.n_abandoned,
        is_interrupted: interrupt.is_requested(),
        setting,
        began,
        elapsed,
        document,
        tally,
        period,
        targets,
        trouble,
        shares,
        missing,
    })
}

/// The makers of the requests, which have made their checks.
async fn muster(
    options: &HttpOptions,
    beside: Beside,
    monitor: &Monitor,
    agents: Option<Agents>,
    interrupt: &mut Interrupt,
) -> Result<Load, HttpRunError> {
    if let Some(agents) = agents {
        return Ok(Load::Fleet(Box::new(Hub::new(agents, options))));
    }
    let groups = groups(options.concurrency, options.n_streams);
    tokio::select! {
        biased;
        () = interrupt.next() => Err(RunError::Interrupted.into()),
        squad = Squad::prepare(options, &groups, beside, monitor.clone(), false) => Ok(Load::Here(squad?)),
    }
}

/// The journal of requests that are counted from now on.
fn journal(metrics: &MetricSet, monitor: &Monitor, load: &Load, n_lanes: usize) -> Journal {
    let mut journal = Journal::new(metrics.clone(), monitor.clone());
    if let Some(hub) = load.hub() {
        journal.set_agents(hub.names().count());
    }
    journal.users(Duration::ZERO, n_lanes);
    journal
}

/// The next text of the transcript; without a transcript, none ever comes.
async fn next(texts: &mut Option<mpsc::Receiver<String>>) -> String {
    let text = match texts {
        Some(texts) => texts.recv().await,
        None => None,
    };
    match text {
        Some(text) => text,
        None => std::future::pending().await,
    }
}

fn setting(options: &HttpOptions, n_workers: usize) -> Setting {
    Setting {
        url: options.shown_url(),
        method: options.request.method.to_string(),
        version: options.version,
        keeps_alive: options.keeps_alive,
        compares_lengths: options.compares_lengths,
        has_body: !options.request.body.is_empty(),
        concurrency: options.concurrency,
        n_streams: options.n_streams,
        n_workers,
        goes_on: options.goes_on,
        proxy: options.proxy.as_ref().map(ToString::to_string),
        rate: options.extent.rate,
        warm_up: options.extent.warm_up,
        judges_failures: options.thresholds.iter().any(Threshold::is_of_failures),
    }
}
