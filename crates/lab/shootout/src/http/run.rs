//! The coordinator: prepares a run, starts the workers, shows how far they are, and puts their accounts together.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use plimsoll_clients::{
    dial::{Dialer, Proxies},
    http::{HttpError, Settings, Template, Url},
    tls::{Tls, TlsError},
};
use plimsoll_load::generator::Monitor;
use plimsoll_report::percentile;
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval, sleep_until},
};

use super::{
    board::Board,
    measures::{Measures, SampledRequest},
    options::HttpOptions,
    outcome::{HttpOutcome, Setting, threshold},
    progress::Progress,
    schedule::Schedule,
    tally::Tally,
    threshold::Threshold,
    transcript::{self, Transcript},
    trouble::{hint, words},
    worker::{self, Recent, Report, Setup, Stage},
};
use crate::{
    execute::Company,
    fleet::WorkerLost,
    journal::Journal,
    meter::Meter,
    onlooker::{LAG, SoFar},
    run::{Preflight, RunError},
};

/// The interval between readings of the workers' progress. Reason: more readings than people can follow cost the
/// generator CPU.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The capacity of the queue of workers' reports. When it is full, the next report contains more. Reason: several
/// seconds of all workers of a large machine.
const N_RECENT: usize = 256;

/// The run could not be done. Exit code 1.
#[derive(Debug, thiserror::Error)]
pub enum HttpRunError {
    /// The request cannot be made.
    #[error("{0}{hint}", hint = hint(.0, .1))]
    Request(HttpError, Box<Url>),
    /// TLS cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// No response was complete.
    #[error("{host} answered no request: {reason} ({n_failed} failed)")]
    NoAnswer {
        /// The server that was asked.
        host: String,
        /// The reason why the run ended, and what to do.
        reason: String,
        /// The number of failed requests.
        n_failed: u64,
    },
    /// An error that all workloads share.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<WorkerLost> for HttpRunError {
    fn from(error: WorkerLost) -> Self {
        Self::Run(error.into())
    }
}

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
        agents: _,
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
    let (setup, setting) = tokio::select! {
        biased;
        () = interrupt.next() => return Err(RunError::Interrupted.into()),
        prepared = prepare(options, request, transcript) => prepared?,
    };
    if texts.is_some() {
        progress.transcribe(&transcript::request(&setup.template, setting.method.as_str()));
    }
    let address = setup.template.address();
    let mut meter = Meter::attach(setup.monitor.clone(), &[address], &options.watched, sampling)?;
    let (sender, mut recent) = mpsc::channel(N_RECENT);
    let shares = shares(options.concurrency, options.n_streams, setup.boards.len());
    let start = |(idx, groups)| worker::spawn(idx, groups, Arc::clone(&setup), sender.clone());
    let workers: Vec<_> = shares
        .into_iter()
        .enumerate()
        .map(start)
        .collect::<Result<_, _>>()
        .map_err(RunError::Start)?;
    drop(sender);
    let mut journal = Journal::new(metrics.clone(), setup.monitor.clone());
    let mut tally = Tally::default();
    let mut is_warm = options.extent.warm_up.is_zero();
    if is_warm {
        meter.prepare();
    }
    let started = Instant::now();
    let schedule = Arc::new(Schedule::new(options.extent, started));
    let began = SystemTime::now() + options.extent.warm_up;
    meter.start(schedule.counted_from);
    meter.lap();
    for worker in &workers {
        worker.begin.send(Arc::clone(&schedule)).map_err(|_| WorkerLost)?;
    }
    let counted_from = schedule.counted_from;
    let mut counting = Box::pin(sleep_until(counted_from.into()));
    journal.users(Duration::ZERO, options.concurrency);
    let mut show_at = counted_from + Duration::from_secs(1) + LAG;
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            text = next(&mut texts) => progress.transcribe(&text),
            told = recent.recv() => match told {
                Some(Recent { at, tally: part }) => {
                    journal.hand_in(at, |second| measures.note(second, &part, at));
                    tally.merge(part);
                }
                // The last worker has ended.
                None => break,
            },
            _ = look.tick() => {
                if is_warm {
                    journal.reach(counted_from.elapsed());
                }
                progress.show(&Board::read(&setup.boards), Instant::now());
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
                        n_workers: setting.n_workers,
                        thresholds: options.judge(&tally, elapsed).iter().map(threshold).collect(),
                        notices: Vec::new(),
                        sampling: meter.sampling(),
                        has_users: false,
                    });
                }
            }
            () = &mut counting, if !is_warm => {
                is_warm = true;
                journal = Journal::new(metrics.clone(), setup.monitor.clone());
                journal.users(Duration::ZERO, options.concurrency);
                meter.prepare();
                meter.start(counted_from);
                meter.lap();
            }
            () = interrupt.next() => {
                schedule.stop(Instant::now());
                let stage = if interrupt.is_urgent() { Stage::Abandoned } else { Stage::Finishing };
                setup.stage.send_replace(stage);
            }
        }
    }
    let ended = Instant::now();
    while let Some(text) = texts.as_mut().and_then(|texts| texts.try_recv().ok()) {
        progress.transcribe(&text);
    }
    let period = meter.lap();
    let mut n_abandoned = 0;
    for worker in workers {
        let Report {
            tally: rest,
            n_abandoned: n,
        } = worker.thread.join().map_err(|_| WorkerLost)?;
        let at = rest
            .last_ended
            .unwrap_or(ended)
            .saturating_duration_since(counted_from);
        journal.hand_in(at, |second| measures.note(second, &rest, at));
        tally.merge(rest);
        n_abandoned += n;
    }
    progress.finish(tally.n_complete);
    let last_ended = tally.last_ended.unwrap_or(ended);
    let elapsed = last_ended.saturating_duration_since(counted_from);
    // A lane that waits for its time when the run is stopped has not sent what it claimed.
    let n_unsent = schedule
        .n_due(ended)
        .map_or(0, |n_due| n_due.saturating_sub(tally.n_started + n_abandoned));
    let unsent = "Unsent: all places were taken";
    journal.fail(elapsed, unsent, unsent, n_unsent);
    let chronicle = journal.finish(elapsed);
    let targets = meter.finish(&chronicle.timeline, &[]);
    let trouble = setup
        .trouble
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let trouble = trouble.map(|error| format!("{}{}", words(&error), hint(&error, &options.request.url)));
    let document = setup.document.get().cloned();
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
        n_unsent,
        chronicle,
        plan: options.plan(),
        n_abandoned,
        is_interrupted: interrupt.is_requested(),
        setting,
        began,
        elapsed,
        document,
        tally,
        period,
        targets,
        trouble,
    })
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

async fn prepare(
    options: &HttpOptions,
    request: SampledRequest,
    transcript: Option<Transcript>,
) -> Result<(Arc<Setup>, Setting), HttpRunError> {
    let tls = Tls::new(options.tls.clone())?;
    let dialer = Dialer {
        proxies: options.proxy.clone().map(Proxies::always).unwrap_or_default(),
        buffer_bytes: options.buffer_bytes,
        ..Dialer::default()
    };
    let settings = Arc::new(Settings::new(Arc::new(dialer), Arc::new(tls)));
    let template = Template::prepare(&options.request, options.version, &settings).await;
    let template =
        template.map_err(|error| HttpRunError::Request(error, Box::new(options.request.url.clone())))?;
    let n_connections = options.concurrency.div_ceil(options.n_streams);
    let sources: Vec<_> = options.source.into_iter().collect();
    Preflight::new(template.address().ip(), &sources).check(n_connections)?;
    // A worker without a connection would have nothing to do.
    let n_workers = options.n_workers.min(n_connections);
    let setup = Setup {
        template: Arc::new(template),
        settings,
        source: options.source,
        goes_on: options.goes_on,
        compares_lengths: options.compares_lengths,
        keeps_samples: options.keeps_samples,
        document: OnceLock::new(),
        transcript,
        trouble: Mutex::new(None),
        stage: watch::Sender::new(Stage::Running),
        boards: (0..n_workers).map(|_| Board::default()).collect(),
        monitor: Monitor::new(),
        request,
    };
    let setting = Setting {
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
    };
    Ok((Arc::new(setup), setting))
}

/// The groups of lanes of each worker: one group per connection.
fn shares(concurrency: usize, n_streams: usize, n_workers: usize) -> Vec<Vec<usize>> {
    let mut shares = vec![Vec::new(); n_workers];
    let n_groups = concurrency.div_ceil(n_streams);
    for group in 0..n_groups {
        let n_lanes = n_streams.min(concurrency - group * n_streams);
        shares[group % n_workers].push(n_lanes);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_shared_out_by_connections() {
        let check = |concurrency, n_streams, n_workers, expected: &[&[usize]]| {
            assert_eq!(shares(concurrency, n_streams, n_workers), expected);
        };
        check(1, 1, 1, &[&[1]]);
        check(5, 1, 2, &[&[1, 1, 1], &[1, 1]]);
        check(10, 4, 2, &[&[4, 2], &[4]]);
    }
}
