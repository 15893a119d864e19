//! A workload of websocket-bench, with any number of clients: `plimsoll line bench`, which answers the shootout's question.

use std::{cell::Cell, sync::Arc, time::Duration};

use plimsoll_line::{
    objective::{ERRORS, LOST, Samples, rules},
    step::{AgentMeasure, Failure, Measured, Step, TargetUse},
};
use plimsoll_load::{
    generator::{Evidence, Monitor, Schedule},
    metrics::{Contains, CounterId, MetricSet, Registry, TrendId},
};
use plimsoll_shootout::{Error, Interrupt, Load, Progress, RunError, Trial, Trials, remote::Agents};
use tokio::sync::mpsc;

use super::super::{
    step::{Taken, Taker},
    talk::Present,
    watched::Machine,
};
use crate::{
    bench::{Errand, Searched},
    exit,
};

/// A bench that can be tried.
pub(in crate::run::line) struct BenchTest {
    trials: Trials,
    /// What a fleet has to do in each step; `None` if the clients are in this process.
    errand: Option<Errand>,
    registry: Registry,
    metrics: Metrics,
    machine: Machine,
}

/// The metrics that objectives can use.
#[derive(Clone, Copy)]
struct Metrics {
    /// The time from a send to the sender's answer, for `broadcast` and `echo`.
    rtt: Option<TrendId>,
    /// The time from a broadcast to its arrival at each listener, for `broadcast`.
    listener_delivery: Option<TrendId>,
    /// The time from a broadcast to its arrival at the last listener, for `broadcast`.
    delivery: Option<TrendId>,
    /// The time from the TCP connect until the client was ready.
    connect: TrendId,
    /// Deliveries that were expected and did not come; of `broadcast`.
    lost: Option<CounterId>,
    /// Clients and messages that failed.
    errors: CounterId,
}

impl BenchTest {
    pub(in crate::run::line) fn new(bench: Searched) -> Result<Self, exit::Failure> {
        let Searched { trials, errand } = bench;
        let mut registry = Registry::new();
        let metrics = Metrics {
            rtt: trials.has_messages().then(|| registry.trend("rtt")).transpose()?,
            listener_delivery: trials
                .is_broadcast()
                .then(|| registry.trend(LISTENER_DELIVERY))
                .transpose()?,
            delivery: trials
                .is_broadcast()
                .then(|| registry.trend(DELIVERY))
                .transpose()?,
            connect: registry.trend("connect")?,
            lost: trials
                .is_broadcast()
                .then(|| registry.counter(LOST, Contains::Default))
                .transpose()?,
            errors: registry.counter(ERRORS, Contains::Default)?,
        };
        Ok(Self {
            trials,
            errand,
            registry,
            metrics,
            machine: Machine::read(),
        })
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Whether a fleet has the clients.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.errand.is_some()
    }

    /// Takes one step.
    pub(in crate::run::line) async fn take(
        &self,
        present: Present,
        taker: &Taker<'_>,
    ) -> Result<Taken, exit::Failure> {
        let mut load = self
            .trials
            .load(usize::try_from(present.load).unwrap_or(usize::MAX));
        let trial = match &self.errand {
            None => try_load(&load, None, present, taker).await,
            Some(errand) => {
                let mut errand = errand.clone();
                if present.number > 1 {
                    errand = errand.again();
                }
                let mustered = errand.muster(&mut load, None, taker.signals.received(1)).await;
                let (field, agents) = match mustered {
                    Ok(mustered) => mustered,
                    Err(undone) => return Taken::of_undone(undone),
                };
                let work = try_load(&load, Some(agents), present, taker);
                field.carry_during(work).await
            }
        };
        match trial {
            Ok(Trial {
                missing: Some(reason),
                ..
            }) => Ok(Taken::Lost(reason)),
            Ok(trial) if trial.is_interrupted => Ok(Taken::Interrupted),
            Err(RunError::Interrupted) => Ok(Taken::Interrupted),
            Ok(trial) => Ok(Taken::Over {
                step: Box::new(self.judge(present.load, &trial, taker)),
                iteration: None,
            }),
            Err(error @ RunError::Preflight(_)) => Ok(Taken::Over {
                step: Box::new(Step::impossible(present.load, error.to_string())),
                iteration: None,
            }),
            Err(error) => Err(Error::Run(error).into()),
        }
    }

    fn judge(&self, load: u64, trial: &Trial, taker: &Taker<'_>) -> Step {
        if let Some(doubt) = trial.doubt.as_ref().filter(|_| judges_deliveries(taker)) {
            return Step::impossible(load, format!("the times of deliveries are not known: {doubt}"));
        }
        let are_known = trial.doubt.is_none();
        let mut metrics = MetricSet::new(Arc::new(self.registry.clone()));
        let samples = [
            (self.metrics.rtt, &trial.answers),
            (self.metrics.delivery.filter(|_| are_known), &trial.deliveries),
            (Some(self.metrics.connect), &trial.connects),
        ];
        for (trend, durations) in samples {
            if let Some(trend) = trend {
                durations.iter().for_each(|&it| metrics.record(trend, it));
            }
        }
        if let Some(trend) = self.metrics.listener_delivery.filter(|_| are_known) {
            metrics.record_all(trend, &trial.listeners);
        }
        let failures: Vec<_> = trial
            .failures
            .iter()
            .map(|(reason, count)| Failure {
                reason: reason.clone(),
                count: *count,
            })
            .collect();
        if let Some(lost) = self.metrics.lost {
            metrics.count(lost, trial.n_lost);
        }
        metrics.count(self.metrics.errors, failures.iter().map(|it| it.count).sum());
        let agents: Vec<_> = trial
            .agents
            .iter()
            .map(|(name, evidence)| AgentMeasure {
                name: name.to_string(),
                evidence: evidence.clone(),
                schedule: Schedule::default(),
            })
            .collect();
        Step::judge(
            load,
            taker.objectives,
            &Measured {
                samples: Samples {
                    all: &metrics,
                    within: &metrics,
                    elapsed: trial.elapsed,
                },
                generator: &trial.generator.clone().unwrap_or_else(idle),
                schedule: Schedule::default(),
                agents: &agents,
                failures: &failures,
                targets: self.used(trial).as_slice(),
            },
        )
    }

    fn used(&self, trial: &Trial) -> Vec<TargetUse> {
        let seconds = trial.elapsed.as_secs_f64();
        let used = trial.watched.zip(self.trials.watched()).map(|(watched, name)| {
            let cpu_cores = if seconds > 0.0 {
                watched.cpu.as_secs_f64() / seconds
            } else {
                0.0
            };
            self.machine.target(name, cpu_cores, watched.rss_bytes)
        });
        used.into_iter().collect()
    }
}

/// Makes one load, on `agents` or here, and shows how it goes.
async fn try_load(
    load: &Load,
    agents: Option<Agents>,
    present: Present,
    taker: &Taker<'_>,
) -> Result<Trial, RunError> {
    let (interrupt, signals) = mpsc::channel(1);
    let last_drawn = Cell::new(None);
    let mut observe = |progress: Progress| {
        let text = progress.to_string();
        // Thousands of messages per second need no drawing each.
        let now = tokio::time::Instant::now();
        let is_due = last_drawn
            .get()
            .is_none_or(|last| now.duration_since(last) >= REDRAW);
        if is_due {
            last_drawn.set(Some(now));
            taker.talk.present_text(present, &text);
        }
    };
    let trial = load.take(Interrupt::new(signals), agents, &mut observe);
    tokio::pin!(trial);
    tokio::select! {
        trial = &mut trial => trial,
        () = taker.signals.received(1) => {
            // The channel is empty: it has room.
            let _told = interrupt.try_send(());
            trial.await
        }
    }
}

/// Whether an objective is about the times of deliveries.
fn judges_deliveries(taker: &Taker<'_>) -> bool {
    rules(taker.objectives)
        .into_keys()
        .any(|metric| metric == LISTENER_DELIVERY || metric == DELIVERY)
}

/// The metric of deliveries to the last listener.
const DELIVERY: &str = "delivery";

/// The metric of deliveries to listeners.
const LISTENER_DELIVERY: &str = "listener_delivery";

/// Between two drawings of how a step goes.
const REDRAW: Duration = Duration::from_millis(200);

/// The health of an idle generator, for a trial without a ready client.
fn idle() -> Evidence {
    Monitor::new().take()
}
