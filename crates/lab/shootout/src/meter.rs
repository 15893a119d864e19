//! The cost of a phase: time, the generator's CPU, and the watched target's CPU and memory.

use std::{
    fmt,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_load::{
    generator::{Evidence, Health, Monitor, Schedule, judge},
    watch::{self, Account, Place, Sample, Sampling, Watch},
};
use plimsoll_report::{
    summary::{Load, Target},
    timeline::Timeline,
};
use serde::{Serialize, Serializer};

use crate::run::RunError;

/// Measures one phase after the other.
#[derive(Debug)]
pub(crate) struct Meter {
    monitor: Monitor,
    /// The first target that has processes.
    watch: Option<Watch>,
    /// The readings of all targets, over the whole run.
    sampling: Option<Arc<Sampling>>,
    /// The evidence of all laps.
    whole: Evidence,
    /// The names of the agents that make the load. Empty: this process does.
    agents: Vec<Arc<str>>,
    /// The end of the last lap of agents.
    since: Instant,
    /// The reading at the last lap.
    before: Option<Sample>,
    trouble: Option<String>,
}

/// The cost of one phase.
#[derive(Clone)]
pub struct Period {
    /// The length of the phase.
    pub elapsed: Duration,
    /// CPU time of this process, all threads.
    pub generator_cpu: Duration,
    /// The resource use of the first target with processes; `None` without `--watch`, or when the target was gone.
    pub watched: Option<Watched>,
    evidence: Evidence,
    /// The evidence about each agent. Empty: this process makes the load.
    agents: Vec<(Arc<str>, Evidence)>,
}

/// The cost of one phase to the watched target, all its processes and threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Watched {
    /// CPU time spent in the phase.
    #[serde(rename = "cpu_seconds", serialize_with = "serialize_seconds")]
    pub cpu: Duration,
    /// Resident memory at the end of the phase.
    pub rss_bytes: u64,
    /// Threads at the end of the phase.
    pub n_threads: Option<u64>,
    /// Open files at the end of the phase; `None` when another user owns the process.
    pub n_open_files: Option<u64>,
}

impl Meter {
    /// Finds the first watched target that has processes. `sampling` looks at all of them.
    ///
    /// What listens at `addresses` is no other program, if that is on this machine: connections that live for a moment are
    /// never there when the monitor looks for the processes behind them.
    ///
    /// # Errors
    /// When one of them is not there.
    pub(crate) fn attach(
        monitor: Monitor,
        addresses: &[SocketAddr],
        targets: &[watch::Target],
        sampling: Option<Arc<Sampling>>,
    ) -> Result<Self, RunError> {
        // Without connections of its own, this process does not judge itself.
        if !addresses.is_empty() {
            leave_out(&monitor, addresses, targets);
        }
        let mut watches = targets
            .iter()
            .filter_map(|target| Watch::attach(&target.place).transpose());
        Ok(Self {
            monitor,
            watch: watches.next().transpose()?,
            sampling,
            whole: Evidence::nothing(),
            agents: Vec::new(),
            since: Instant::now(),
            before: None,
            trouble: None,
        })
    }

    /// The load is made by agents with these names.
    pub(crate) fn set_agents(&mut self, names: impl Iterator<Item = Arc<str>>) {
        self.agents = names.collect();
    }

    /// Notes the state of the targets before the load.
    pub(crate) fn prepare(&self) {
        self.sampling.iter().for_each(|sampling| sampling.prepare());
    }

    /// The load begins at this instant.
    pub(crate) fn start(&self, at: Instant) {
        self.monitor.take();
        self.sampling.iter().for_each(|sampling| sampling.start(at));
    }

    /// The resource use of the targets from the start of the load until now, with this number of clients at each
    /// time; empty without targets.
    pub(crate) fn finish(&self, timeline: &Timeline, clients: &[u32]) -> Vec<Target> {
        let accounts: Vec<_> = self
            .sampling
            .iter()
            .flat_map(|sampling| sampling.finish())
            .collect();
        targets(&accounts, timeline, clients)
    }

    /// The readings of the targets.
    pub(crate) fn sampling(&self) -> Option<Arc<Sampling>> {
        self.sampling.clone()
    }

    /// The evidence about the generator in all laps together.
    pub(crate) fn whole(&self) -> &Evidence {
        &self.whole
    }

    /// The first phase begins, wherever the load is made.
    pub(crate) fn begin_lap(&mut self) {
        self.lap();
        self.since = Instant::now();
    }

    /// The cost of the phase since the last lap. Call it at the beginning and the end of each phase.
    pub(crate) fn lap(&mut self) -> Period {
        let evidence = self.monitor.take();
        self.close(evidence.elapsed, evidence, Vec::new())
    }

    /// As [`Self::lap`], with what agents told of themselves when they were asked at this instant.
    pub(crate) fn lap_of_agents(&mut self, asked_at: Instant, told: Vec<(usize, Evidence)>) -> Period {
        // The wait for their answers is in no phase.
        let since = std::mem::replace(&mut self.since, Instant::now());
        let elapsed = asked_at.saturating_duration_since(since);
        let mut evidence = Evidence::nothing();
        told.iter().for_each(|(_, it)| evidence.beside(it));
        let named = told
            .into_iter()
            .filter_map(|(agent, it)| Some((Arc::clone(self.agents.get(agent)?), it)));
        let agents = named.collect();
        self.close(elapsed, evidence, agents)
    }

    fn close(&mut self, elapsed: Duration, evidence: Evidence, agents: Vec<(Arc<str>, Evidence)>) -> Period {
        self.whole.join(&evidence);
        Period {
            elapsed,
            generator_cpu: evidence.cpu,
            watched: self.watched(),
            evidence,
            agents,
        }
    }

    /// The reason why the target is no longer watched. It is returned once.
    pub(crate) fn take_trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    fn watched(&mut self) -> Option<Watched> {
        match self.watch.as_mut()?.sample() {
            Ok(now) => {
                let before = self.before.replace(now).unwrap_or(now);
                let Sample {
                    rss_bytes,
                    n_threads,
                    n_open_files,
                    ..
                } = now;
                Some(Watched {
                    cpu: now.since(&before).cpu,
                    rss_bytes,
                    n_threads,
                    n_open_files,
                })
            }
            Err(error) => {
                self.watch = None;
                self.trouble = Some(error.to_string());
                None
            }
        }
    }
}

impl Period {
    /// The evidence about the generator.
    pub(crate) fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// The evidence about each agent. Empty: this process makes the load.
    pub(crate) fn agents(&self) -> &[(Arc<str>, Evidence)] {
        &self.agents
    }

    /// The health of the generator in this phase. `latency` is the figure to compare with.
    pub(crate) fn health(&self, latency: Option<Duration>) -> Health {
        if self.agents.is_empty() {
            return judge(&self.evidence, Schedule::default(), latency);
        }
        let judged = |(name, evidence): &(Arc<str>, Evidence)| {
            (Arc::clone(name), judge(evidence, Schedule::default(), latency))
        };
        let judged: Vec<_> = self.agents.iter().map(judged).collect();
        Health::of_agents(judged.iter().map(|(name, health)| (&**name, health.clone())))
    }
}

/// What listens at these addresses on this machine, and these targets, are no other programs.
pub(crate) fn leave_out(monitor: &Monitor, addresses: &[SocketAddr], targets: &[watch::Target]) {
    let here = addresses.iter().filter(|address| address.ip().is_loopback());
    let bench = here.map(|address| Place::Port(address.port()));
    let watched = targets.iter().map(|target| target.place.clone());
    monitor.leave_out(&watched.chain(bench).collect::<Vec<_>>());
}

/// The resource use of targets with this number of clients at each time; empty without targets.
pub(crate) fn targets(accounts: &[Account], timeline: &Timeline, clients: &[u32]) -> Vec<Target> {
    let load = Load {
        vus: clients,
        iterations: &[],
        ..Load::of(timeline)
    };
    accounts
        .iter()
        .map(|account| Target::new(account, &load))
        .collect()
}

/// Rounded to microseconds: more digits say nothing and make a file hard to read.
pub(crate) fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

fn serialize_seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(seconds(*time))
}

impl fmt::Display for Period {
    /// `2.00 s: generator 0.02 s CPU (1 %), target 0.10 s CPU (5 %), 14.2 MB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64();
        let cpu = |cpu: Duration| {
            let cpu = cpu.as_secs_f64();
            let percent = if seconds > 0.0 { cpu / seconds * 100.0 } else { 0.0 };
            format!("{cpu:.2} s CPU ({percent:.0} %)")
        };
        write!(f, "{seconds:.2} s: generator {}", cpu(self.generator_cpu))?;
        self.watched.map_or(Ok(()), |watched| {
            let megabytes = watched.rss_bytes as f64 / 1e6;
            write!(f, ", target {}, {megabytes:.1} MB", cpu(watched.cpu))
        })
    }
}

impl fmt::Debug for Period {
    /// Omits the evidence: the buckets of its histogram fill pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            elapsed,
            generator_cpu,
            watched,
            evidence: _,
            agents: _,
        } = self;
        let mut it = f.debug_struct("Period");
        it.field("elapsed", elapsed)
            .field("generator_cpu", generator_cpu)
            .field("watched", watched)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Period {
    /// A phase with these figures, in which the generator was never late.
    pub(crate) fn example(elapsed: Duration, generator_cpu: Duration, watched: Option<Watched>) -> Self {
        let evidence = Evidence {
            elapsed,
            cpu: generator_cpu,
            ..Evidence::nothing()
        };
        Self {
            elapsed,
            generator_cpu,
            watched,
            evidence,
            agents: Vec::new(),
        }
    }
}
