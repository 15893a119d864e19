//! The workers of this process, from their preparation to their last report. They have all requests of a run, or the part
//! of an agent.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use plimsoll_clients::{
    dial::{Dialer, Proxies},
    http::{Settings, Template},
    tls::Tls,
};
use plimsoll_load::generator::Monitor;
use tokio::sync::{Notify, mpsc, watch};

use super::{
    board::{Board, Reading},
    document::Document,
    error::HttpRunError,
    measures::SampledRequest,
    options::HttpOptions,
    schedule::Schedule,
    tally::Tally,
    transcript::{self, Transcript},
    trouble::{hint, words},
    worker::{self, Handle, Recent, Report, Setup, Stage},
};
use crate::{
    fleet::WorkerLost,
    run::{Preflight, RunError},
};

/// The capacity of the queue of workers' reports. When it is full, the next report contains more. Reason: several
/// seconds of all workers of a large machine.
const N_RECENT: usize = 256;

/// The workers.
#[derive(Debug)]
pub(crate) struct Squad {
    setup: Arc<Setup>,
    workers: Vec<Handle>,
    recent: mpsc::Receiver<Recent>,
    schedule: Option<Arc<Schedule>>,
    n_started: u64,
}

/// What is sent and noted beside the requests themselves, in this process only.
#[derive(Debug)]
pub(crate) struct Beside {
    /// The request in single samples.
    pub(crate) request: SampledRequest,
    /// Shows the exchanges themselves; `None` in most runs.
    pub(crate) transcript: Option<Transcript>,
}

/// The end of all workers.
#[derive(Debug)]
pub(crate) struct Rest {
    /// What each did since its last report, with its time since the start of the counted requests.
    pub(crate) tallies: Vec<(Duration, Tally)>,
    /// The number of requests in progress when the workers were ordered not to wait.
    pub(crate) n_abandoned: u64,
    /// Requests of the open model that were due and found no free lane.
    pub(crate) n_unsent: u64,
}

impl Squad {
    /// Makes all checks that need no connection, and starts workers for the connections of `groups`, each with so many
    /// lanes. `is_part`: other processes have requests of the same run.
    ///
    /// # Errors
    /// The request cannot be made, or this machine has no room for the connections.
    pub(crate) async fn prepare(
        options: &HttpOptions,
        groups: &[usize],
        beside: Beside,
        monitor: Monitor,
        is_part: bool,
    ) -> Result<Self, HttpRunError> {
        let settings = Arc::new(settings(options)?);
        let template = Template::prepare(&options.request, options.version, &settings).await;
        let template =
            template.map_err(|error| HttpRunError::Request(error, Box::new(options.request.url.clone())))?;
        let sources: Vec<_> = options.source.into_iter().collect();
        Preflight::new(template.address().ip(), &sources).check(groups.len())?;
        let setup = Setup {
            template: Arc::new(template),
            settings,
            source: options.source,
            goes_on: options.goes_on,
            compares_lengths: options.compares_lengths,
            keeps_samples: options.keeps_samples,
            document: OnceLock::new(),
            common_length: is_part.then(OnceLock::new),
            news: Arc::default(),
            transcript: beside.transcript,
            trouble: Mutex::new(None),
            stage: watch::Sender::new(Stage::Running),
            boards: (0..n_workers(options, groups))
                .map(|_| Board::default())
                .collect(),
            monitor,
            request: beside.request,
        };
        Self::start(Arc::new(setup), groups).map_err(|error| RunError::Start(error).into())
    }

    fn start(setup: Arc<Setup>, groups: &[usize]) -> io::Result<Self> {
        let (sender, recent) = mpsc::channel(N_RECENT);
        let shares = shares(groups, setup.boards.len());
        let start = |(idx, groups)| worker::spawn(idx, groups, Arc::clone(&setup), sender.clone());
        let workers = shares
            .into_iter()
            .enumerate()
            .map(start)
            .collect::<io::Result<_>>()?;
        Ok(Self {
            setup,
            workers,
            recent,
            schedule: None,
            n_started: 0,
        })
    }

    /// The address to connect to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.setup.template.address()
    }

    /// The number of workers.
    pub(crate) fn n_workers(&self) -> usize {
        self.workers.len()
    }

    /// The request as a transcript shows it.
    pub(crate) fn request(&self, method: &str) -> String {
        transcript::request(&self.setup.template, method)
    }

    /// Lets the workers begin.
    ///
    /// # Errors
    /// One of them is gone.
    pub(crate) fn begin(&mut self, schedule: Schedule) -> Result<(), WorkerLost> {
        let schedule = Arc::new(schedule);
        self.schedule = Some(Arc::clone(&schedule));
        for worker in &self.workers {
            worker.begin.send(Arc::clone(&schedule)).map_err(|_| WorkerLost)?;
        }
        Ok(())
    }

    /// What a worker did in a second; `None` when all have ended. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Recent> {
        let recent = self.recent.recv().await?;
        self.n_started += recent.tally.n_started;
        Some(recent)
    }

    /// The counts of this moment.
    pub(crate) fn reading(&self) -> Reading {
        Board::read(&self.setup.boards)
    }

    /// Starts no further requests. `is_urgent`: those in progress are abandoned.
    pub(crate) fn stop(&self, is_urgent: bool) {
        if let Some(schedule) = &self.schedule {
            schedule.stop(Instant::now());
        }
        let wanted = if is_urgent {
            Stage::Abandoned
        } else {
            Stage::Finishing
        };
        self.setup.stage.send_if_modified(|stage| {
            let is_later = wanted > *stage;
            *stage = wanted.max(*stage);
            is_later
        });
    }

    /// Wakes its listener when there is a first response, or trouble.
    pub(crate) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.setup.news)
    }

    /// The first response, if there is one.
    pub(crate) fn document(&self) -> Option<&Document> {
        self.setup.document.get()
    }

    /// All bodies must have this length. Only of a part.
    pub(crate) fn set_common_length(&self, length: u64) {
        if let Some(common) = &self.setup.common_length {
            // The first one is of all processes.
            let _ = common.set(length);
        }
    }

    /// The failure that ended the run, in words, if one did. It is returned once.
    pub(crate) fn take_trouble(&self, options: &HttpOptions) -> Option<String> {
        let mut trouble = self.setup.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let error = trouble.take()?;
        Some(format!("{}{}", words(&error), hint(&error, &options.request.url)))
    }

    /// Takes the last reports. To be called when all workers have ended.
    ///
    /// # Errors
    /// A worker has panicked.
    pub(crate) fn disband(&mut self) -> Result<Rest, WorkerLost> {
        let ended = Instant::now();
        let mut rest = Rest {
            tallies: Vec::new(),
            n_abandoned: 0,
            n_unsent: 0,
        };
        let Some(schedule) = &self.schedule else {
            return Ok(rest);
        };
        for worker in std::mem::take(&mut self.workers) {
            let Report {
                mut tally,
                n_abandoned,
            } = worker.thread.join().map_err(|_| WorkerLost)?;
            if let Some(length) = self.setup.expected_length() {
                tally.judge_lengths(length);
            }
            let at = tally.last_ended.unwrap_or(ended);
            self.n_started += tally.n_started;
            rest.n_abandoned += n_abandoned;
            rest.tallies
                .push((at.saturating_duration_since(schedule.counted_from), tally));
        }
        // A lane that waits for its time when the run is stopped has not sent what it claimed.
        let n_begun = self.n_started + rest.n_abandoned;
        rest.n_unsent = schedule
            .n_due(ended)
            .map_or(0, |n_due| n_due.saturating_sub(n_begun));
        Ok(rest)
    }
}

impl Drop for Squad {
    /// Workers end, whatever they do.
    fn drop(&mut self) {
        self.stop(true);
    }
}

/// Checks the options as far as that is possible without the server.
///
/// # Errors
/// The request cannot be made, or TLS cannot be used.
pub(crate) fn check(options: &HttpOptions) -> Result<(), HttpRunError> {
    let checked = Template::check(&options.request, options.version, &settings(options)?);
    checked.map_err(|error| HttpRunError::Request(error, Box::new(options.request.url.clone())))
}

/// The settings of all connections.
///
/// # Errors
/// TLS cannot be used.
fn settings(options: &HttpOptions) -> Result<Settings, HttpRunError> {
    let tls = Tls::new(options.tls.clone())?;
    let dialer = Dialer {
        proxies: options.proxy.clone().map(Proxies::always).unwrap_or_default(),
        buffer_bytes: options.buffer_bytes,
        ..Dialer::default()
    };
    Ok(Settings::new(Arc::new(dialer), Arc::new(tls)))
}

/// The threads that connections of these groups of lanes get: a worker without a connection would have nothing to do.
pub(crate) fn n_workers(options: &HttpOptions, groups: &[usize]) -> usize {
    options.n_workers.min(groups.len())
}

/// The connections of a run: the number of lanes of each.
pub(crate) fn groups(concurrency: usize, n_streams: usize) -> Vec<usize> {
    let n_groups = concurrency.div_ceil(n_streams);
    (0..n_groups)
        .map(|group| n_streams.min(concurrency - group * n_streams))
        .collect()
}

/// The groups of lanes of each worker.
fn shares(groups: &[usize], n_workers: usize) -> Vec<Vec<usize>> {
    let mut shares = vec![Vec::new(); n_workers];
    for (at, group) in groups.iter().enumerate() {
        shares[at % n_workers].push(*group);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_shared_out_by_connections() {
        let check = |concurrency, n_streams, n_workers, expected: &[&[usize]]| {
            assert_eq!(shares(&groups(concurrency, n_streams), n_workers), expected);
        };
        check(1, 1, 1, &[&[1]]);
        check(5, 1, 2, &[&[1, 1, 1], &[1, 1]]);
        check(10, 4, 2, &[&[4, 2], &[4]]);
        assert_eq!(shares(&[], 0), Vec::<Vec<usize>>::new());
    }
}
