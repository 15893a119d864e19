//! The workloads `broadcast` and `echo`: connect more clients, let random ones send, repeat.

use std::time::{Duration, SystemTime};

use plimsoll_load::{causes::Causes, histogram::Histogram};
use plimsoll_report::Distribution;

use crate::{
    interrupt::Interrupt,
    ledger::Tally,
    meter::Period,
    options::{Exchange, Model},
    outcome::{Deliveries, DeliveryCounts, NodeDeliveries, Outcome, Sampling, Step},
    ramp::ramp,
    remote::Agents,
    run::{Run, RunError, StepRecord},
    samples::Rtt,
    sampling::{Plan, sample},
    sink::{Readings, Sink},
    wire::Command,
    worker::Report,
};

/// Runs the workload to its end, or until the user interrupts it. `agents` have the clients; `None`: this process has them.
///
/// # Errors
/// [`RunError`]. Messages that were lost and clients that failed are not errors: the outcome tells them.
pub async fn run(
    options: &Exchange,
    interrupt: Interrupt,
    agents: Option<Agents>,
    sink: &mut dyn Sink,
) -> Result<Outcome, RunError> {
    let mut run = Run::start(
        (options.workload(), options.plan()),
        &options.common,
        &options.steps,
        (options.n_padding_bytes, Some(&options.model)),
        (interrupt, agents),
        sink,
    )
    .await?;
    let mut steps = Vec::new();
    loop {
        let step = take_step(&mut run, options, steps.len()).await?;
        run.sink.step(&step, &run.setting);
        let is_last = is_last(options, steps.len(), &step);
        steps.push(step);
        if is_last
            || !run
                .may_continue(options.steps.n_more, options.common.between_steps)
                .await?
        {
            break;
        }
    }
    let report = credit_late_arrivals(&mut run, &mut steps).await?;
    Ok(run.finish(steps, &report).await)
}

async fn take_step(run: &mut Run<'_>, options: &Exchange, step_idx: usize) -> Result<Step, RunError> {
    run.begin_step(step_idx).await?;
    let n_asked = options.steps.n_added(step_idx);
    let ramp = ramp(run, n_asked, options.steps.connect_width).await?;
    let connects = ramp.samples.durations().to_vec();
    let connect = ramp.account(run.lap().await?);
    let n_clients = run.fleet.n_connected();
    let may_sample = n_clients > 0 && !run.interrupt.is_requested();
    if step_idx == 0 && n_clients == 0 && !run.interrupt.is_requested() {
        return Err(RunError::NobodyReady {
            n_clients: n_asked,
            causes: connect.failures,
        });
    }
    let mut step = Step {
        time: SystemTime::now(),
        n_clients,
        limit_percentile: options.limit_percentile,
        rtt: None,
        delivery: None,
        health: connect.period.health(None),
        connect,
        sampling: None,
        drops: Causes::default(),
    };
    if may_sample {
        run.lap().await?;
        let report = sample(run, &plan(options)).await?;
        let period = run.lap().await?;
        let record = run.step(step_idx);
        let mut sampling = account(record, &report, period, &options.model);
        let readings = Readings {
            answers: record.messages.answers().durations().to_vec(),
            deliveries: record.last_delivery_times().collect(),
            listeners: record.deliveries.clone(),
            connects,
            generator: sampling.period.evidence().clone(),
            agents: sampling.period.agents().to_vec(),
            doubt: doubt(&sampling),
        };
        step.rtt = record.messages.answers().rtt(options.limit_percentile);
        let has_times = sampling.deliveries.as_ref().is_some_and(Deliveries::has_times);
        let delivery = Rtt::of_histogram(&record.deliveries, options.limit_percentile);
        step.delivery = delivery.filter(|_| has_times);
        let remarks = missing(step_idx, &sampling)
            .into_iter()
            .chain(unknown(step_idx, &sampling));
        let remarks: Vec<_> = remarks.collect();
        sampling
            .deliveries
            .iter_mut()
            .for_each(Deliveries::hide_unknown_times);
        step.health = sampling.period.health(Some(main_figure(&sampling)));
        step.sampling = Some(sampling);
        run.sink.measured(readings);
        remarks.into_iter().for_each(|it| run.note(it));
        step.time = SystemTime::now();
    }
    run.tell_trouble();
    step.drops = run.take_drops();
    Ok(step)
}

fn plan(options: &Exchange) -> Plan<'_> {
    Plan {
        command: options.command,
        model: &options.model,
        waits: options.waits,
    }
}

/// A remark about the deliveries that the step has lost: what its percentiles say about them.
fn missing(step_idx: usize, sampling: &Sampling) -> Option<String> {
    let deliveries = sampling.deliveries.as_ref()?;
    let waited = deliveries.waited?;
    Some(format!(
        "step {}: {} of {} deliveries did not arrive; each counts with the time that was waited for it, so times of {:.2} s \
         and more are lower bounds",
        step_idx + 1,
        deliveries.counts.n_lost(),
        deliveries.counts.n_expected,
        waited.as_secs_f64()
    ))
}

/// A remark about times of deliveries that are not shown.
fn unknown(step_idx: usize, sampling: &Sampling) -> Option<String> {
    Some(format!(
        "step {}: the times of deliveries are not shown: {}. The counts are exact, and so are acknowledgements",
        step_idx + 1,
        doubt(sampling)?
    ))
}

/// Why the times of deliveries say nothing. `None`: they are known well enough.
fn doubt(sampling: &Sampling) -> Option<String> {
    let deliveries = sampling.deliveries.as_ref().filter(|it| !it.has_times())?;
    Some(format!(
        "the clocks of the agents are known to {:.1} ms, and more than 10 % of the median ({:.1} ms) would say nothing",
        deliveries.uncertainty?.as_secs_f64() * 1e3,
        deliveries.listener.p50 as f64 / 1e3
    ))
}

/// Puts the coordinator's and the workers' records of a step together.
fn account(record: &StepRecord, report: &Report, period: Period, model: &Model) -> Sampling {
    let StepRecord {
        command,
        messages,
        deliveries,
        waited,
        ..
    } = record;
    let tally = &report.tally;
    let delivered = || Deliveries {
        counts: counts(tally),
        listener: Distribution::from(deliveries).bounded_from(*waited),
        last_delivery: distribution(record.last_delivery_times()).bounded_from(*waited),
        waited: *waited,
        in_flight: record.in_flight(),
        by_node: by_node(record),
        uncertainty: record.table.uncertainty(),
    };
    Sampling {
        period,
        n_sent: messages.n_issued() as u64,
        n_unanswered: messages.n_unanswered() as u64,
        answer: distribution(messages.answers().durations().iter().copied()),
        lateness: matches!(model, Model::Open(_)).then(|| Distribution::from(&report.lateness)),
        deliveries: (*command == Command::Broadcast).then(delivered),
    }
}

fn distribution(durations: impl Iterator<Item = Duration>) -> Distribution {
    let mut histogram = Histogram::new();
    durations.for_each(|it| histogram.record(it));
    Distribution::from(&histogram)
}

/// Moves deliveries that arrived after their step's account to that step. Returns the last report.
async fn credit_late_arrivals(run: &mut Run<'_>, steps: &mut [Step]) -> Result<Report, RunError> {
    let mut report = Report::default();
    for (step_idx, step) in steps.iter_mut().enumerate() {
        report = run.report(step_idx).await?;
        if let Some(deliveries) = step.sampling.as_mut().and_then(|it| it.deliveries.as_mut()) {
            deliveries.counts = counts(&report.tally);
            deliveries.by_node = by_node(run.step(step_idx));
        }
        if let Some(sampling) = &mut step.sampling {
            let messages = &run.step(step_idx).messages;
            sampling.n_unanswered = messages.n_unanswered() as u64;
            sampling.answer = distribution(messages.answers().durations().iter().copied());
        }
    }
    Ok(report)
}

fn by_node(record: &StepRecord) -> Vec<NodeDeliveries> {
    let nodes = record.by_node.iter().map(|node| {
        let mut listener = node.latency.clone();
        listener.merge(&node.missing);
        NodeDeliveries {
            n_expected: node.n_expected(),
            n_delivered: node.n_delivered,
            listener: Distribution::from(&listener).bounded_from(record.waited),
        }
    });
    nodes.collect()
}

fn counts(tally: &Tally) -> DeliveryCounts {
    DeliveryCounts {
        n_expected: tally.n_expected,
        n_delivered: tally.n_delivered,
        n_late: tally.n_late,
        n_duplicated: tally.n_duplicated,
        n_out_of_order: tally.n_out_of_order,
    }
}

/// The latency that a reader looks at first, and that the generator's own lateness must not shape.
fn main_figure(sampling: &Sampling) -> Duration {
    let distribution = sampling
        .deliveries
        .as_ref()
        .filter(|it| it.has_times())
        .map_or(&sampling.answer, |it| &it.listener);
    Duration::from_micros(distribution.p95)
}

/// Whether the step is the last one: the planned number of steps decides, or without it the first step over the
/// limit.
fn is_last(options: &Exchange, step_idx: usize, step: &Step) -> bool {
    match options.steps.n_steps {
        Some(n_steps) => step_idx + 1 >= n_steps,
        None => step
            .headline()
            .is_none_or(|rtt| rtt.percentile > options.limit_rtt),
    }
}
