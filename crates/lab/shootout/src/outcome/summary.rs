//! A run of `broadcast`, `echo` or `connect` as a summary: its totals and what happened when from the journal, its steps
//! from the very figures that the text shows.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_load::generator::Health;
use plimsoll_report::{
    Distribution, Summary,
    by_load::{Level, Usage},
    summary::{
        Contains, End, Generator, Iterations, Losses, Measured, Metric, Origin, Section, StepInFlight, Values,
    },
};

use super::{Connecting, DeliveryCounts, OF_DELIVERIES, Outcome, Sampling, Step};
use crate::{
    measures::{CONNECT, DELIVERY, LISTENER_DELIVERY, PHASES, RTT},
    meter::Period,
};

/// The largest number of steps that are listed separately, as groups are in other runs. Reason: tables have no room
/// for more rows.
const MAX_STEPS: usize = 50;

impl Outcome {
    /// The title of the run for people: the command and its target.
    pub fn name(&self) -> String {
        self.workload
            .title(&self.setting.target, self.setting.nodes.len())
    }

    /// Everything there is to say about the run.
    pub fn summarize(&self, origin: Origin<'_>) -> Summary {
        let chronicle = &self.chronicle;
        let (steps, n_left_out) = self.sections();
        let left_out = (n_left_out > 0).then(|| format!("{n_left_out} further steps are in the totals only"));
        let mut summary = Summary::of_measured(Measured {
            origin,
            started_at: chronicle.began,
            seconds: self.elapsed.as_secs_f64(),
            plan: self.plan.clone(),
            n_workers: self.setting.n_workers,
            end: if self.is_interrupted {
                End::Shutdown
            } else {
                End::Complete
            },
            thresholds: self.thresholds.clone(),
            notices: self.messages.iter().cloned().chain(left_out).collect(),
            iterations: Iterations {
                complete: chronicle.n_complete,
                interrupted: 0,
                failed: chronicle.n_failed,
                failures: Vec::new(),
            },
            metrics: &chronicle.metrics,
            steps,
            timeline: chronicle.timeline.clone(),
            legs: chronicle.legs.clone(),
            levels: self.levels(),
            losses: self.deliveries().as_ref().map(losses),
            in_flight: self.steps.iter().take(MAX_STEPS).filter_map(in_flight).collect(),
            targets: self.targets.clone(),
            generator: Generator::new(&self.generator, &self.health(), chronicle.generator.clone()),
        });
        if self.hides_times() {
            hide_times(&mut summary);
        }
        let waited = self
            .steps
            .iter()
            .filter_map(|step| step.deliveries()?.waited)
            .min();
        for name in OF_DELIVERIES {
            if let Some(Values::Trend(found)) = summary.metrics.get_mut(name).map(|metric| &mut metric.values)
            {
                *found = found.bounded_from(waited);
            }
        }
        summary
    }

    /// The health of the generator in all steps together.
    fn health(&self) -> Health {
        let reasons = self.steps.iter().flat_map(|step| {
            let reasons = step.health.reasons.iter();
            reasons.map(|reason| format!("with {} clients: {reason}", step.n_clients))
        });
        let whole = Health::calm(&self.generator, None);
        let bounds = self.steps.iter().filter_map(|step| step.health.lateness_bound_ms);
        Health {
            doubtful: self.is_doubtful(),
            doubt: self.steps.iter().filter_map(|step| step.health.doubt).min(),
            reasons: reasons.take(MAX_STEPS).collect(),
            // The worst step, because the doubt may be about it.
            lateness_bound_ms: bounds.max_by(f64::total_cmp),
            other_programs: whole.other_programs,
        }
    }

    /// Gives the targets their memory per user: what each step had taken when all its clients were there.
    pub(crate) fn learn(&mut self) {
        let steps = self.steps.iter().map(|step| {
            let period = step
                .sampling
                .as_ref()
                .map_or(&step.connect.period, |it| &it.period);
            level(Duration::ZERO, step, period, self.watched())
        });
        let steps: Vec<_> = steps.collect();
        for target in &mut self.targets {
            target.learn(&steps);
        }
    }

    /// The name of the target that is read at the ends of steps: the first one with processes. Empty without one.
    fn watched(&self) -> &str {
        let mut targets = self.targets.iter();
        let target = targets.find(|target| !target.what.starts_with("metrics "));
        target.map_or("", |target| &target.name)
    }

    /// The steps that held a number of clients while these worked, each with its metrics.
    fn levels(&self) -> Vec<(Level, Section)> {
        let mut start = Duration::ZERO;
        let levels = self.steps.iter().enumerate().filter_map(|(idx, step)| {
            start += step.connect.period.elapsed;
            let begun = start;
            let sampling = step.sampling.as_ref()?;
            start += sampling.period.elapsed;
            let level = Level {
                iterations: sampling.n_sent,
                failed_iterations: sampling.n_unanswered,
                losses: sampling.deliveries.as_ref().map(|it| losses(&it.counts)),
                ..level(begun, step, &sampling.period, self.watched())
            };
            Some((level, section(idx + 1, step)))
        });
        levels.collect()
    }

    /// The steps, where there are several, and how many are left out.
    fn sections(&self) -> (Vec<Section>, usize) {
        if self.steps.len() < 2 {
            return (Vec::new(), 0);
        }
        let sections = self.steps.iter().take(MAX_STEPS).enumerate();
        let sections = sections.map(|(idx, step)| section(idx + 1, step));
        (sections.collect(), self.steps.len().saturating_sub(MAX_STEPS))
    }
}

/// Leaves out what rests on the times of deliveries.
fn hide_times(summary: &mut Summary) {
    for name in OF_DELIVERIES {
        summary.metrics.remove(name);
        summary.timeline.metrics.remove(name);
    }
    let by_load = summary.by_load.take();
    summary.by_load = by_load.filter(|it| {
        it.latency
            .as_deref()
            .is_none_or(|name| !OF_DELIVERIES.contains(&name))
    });
}

fn losses(counts: &DeliveryCounts) -> Losses {
    Losses {
        expected: counts.n_expected,
        received: counts.n_delivered,
        lost: counts.n_lost(),
        duplicated: counts.n_duplicated,
        out_of_order: counts.n_out_of_order,
    }
}

fn in_flight(step: &Step) -> Option<StepInFlight> {
    let in_flight = step.deliveries()?.in_flight;
    Some(StepInFlight {
        clients: step.n_clients as u64,
        max: in_flight.max,
        mean: (in_flight.mean * 1e3).round() / 1e3,
    })
}

/// The load of a step in this period of it. `target` is the name of the watched target.
fn level(start: Duration, step: &Step, period: &Period, target: &str) -> Level {
    let n_clients = step.n_clients as f64;
    let seconds = period.elapsed.as_secs_f64();
    let used = period.watched.map(|watched| Usage {
        name: target.to_owned(),
        cores: (seconds > 0.0).then(|| watched.cpu.as_secs_f64() / seconds),
        rss_bytes: Some(watched.rss_bytes as f64),
    });
    Level {
        // Clients that lost their connections were not there to the end.
        least: (n_clients - step.drops.total() as f64).max(0.0),
        most: n_clients,
        mean: n_clients,
        start_seconds: start.as_secs_f64(),
        seconds,
        targets: used.into_iter().collect(),
        ..Level::default()
    }
}

fn section(number: usize, step: &Step) -> Section {
    let connecting = &step.connect;
    let sampling = step.sampling.as_ref();
    let metrics = of_connecting(connecting).chain(sampling.into_iter().flat_map(of_sampling));
    let metrics = metrics.filter(|(_, distribution)| distribution.count > 0);
    let metrics = metrics.map(|(name, distribution)| (name.to_owned(), trend(distribution)));
    Section {
        name: format!("{number}: {} clients", step.n_clients),
        metrics: metrics.collect::<BTreeMap<_, _>>(),
        ..Section::default()
    }
}

fn of_connecting(connecting: &Connecting) -> impl Iterator<Item = (&'static str, Distribution)> {
    let Connecting {
        total,
        tcp_connect,
        upgrade,
        welcome,
        subscribe,
        ..
    } = *connecting;
    let phases = PHASES.into_iter().zip([tcp_connect, upgrade, welcome, subscribe]);
    phases.chain([(CONNECT, total)])
}

fn of_sampling(sampling: &Sampling) -> impl Iterator<Item = (&'static str, Distribution)> {
    let deliveries = sampling.deliveries.iter();
    let deliveries =
        deliveries.flat_map(|it| [(DELIVERY, it.last_delivery), (LISTENER_DELIVERY, it.listener)]);
    [(RTT, sampling.answer)].into_iter().chain(deliveries)
}

fn trend(distribution: Distribution) -> Metric {
    Metric {
        contains: Contains::Time,
        values: Values::Trend(distribution),
        figures: Vec::new(),
        histogram: None,
        exact: Vec::new(),
    }
}
