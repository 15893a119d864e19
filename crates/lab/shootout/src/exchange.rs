//! The workloads `broadcast` and `echo`: connect more clients, let random ones send, repeat.

use std::time::{Duration, SystemTime};

use plimsoll_report::Distribution;

use crate::{
    causes::Causes,
    interrupt::Interrupt,
    meter::Period,
    options::Exchange,
    outcome::{Deliveries, DeliveryCounts, Outcome, Sampling, Step},
    ramp::ramp,
    run::{Run, RunError, StepRecord},
    sampling::{Plan, sample},
    sink::{Readings, Sink},
    wire::Command,
    worker::Report,
};

/// Runs the workload to its end, or until the user interrupts it.
///
/// # Errors
/// [`RunError`]. Messages that were lost and clients that failed are not errors: the outcome tells them.
pub async fn run(options: &Exchange, interrupt: Interrupt, sink: &mut dyn Sink) -> Result<Outcome, RunError> {
    let mut run = Run::start(
        (options.workload(), options.plan()),
        &options.common,
        &options.steps,
        options.n_padding_bytes,
        interrupt,
        sink,
    )
    .await?;
    let mut steps = Vec::new();
    loop {
        let step = take_step(&mut run, options, steps.len()).await?;
        run.sink.step(&step);
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
    run.begin_step(step_idx);
    let n_asked = options.steps.n_added(step_idx);
    let ramp = ramp(run, n_asked, options.steps.connect_width).await?;
    let connects = ramp.samples.durations().to_vec();
    let connect = ramp.account(run.meter.lap());
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
        health: connect.period.health(None),
        connect,
        sampling: None,
        drops: Causes::default(),
    };
    if may_sample {
        run.meter.lap();
        sample(run, &plan(options)).await?;
        let period = run.meter.lap();
        let report = run.report(step_idx).await?;
        let record = run.step(step_idx);
        let sampling = account(record, &report, period);
        let readings = Readings {
            answers: record.messages.answers().durations().to_vec(),
            deliveries: record.messages.last_delivery_times(&record.table).collect(),
            connects,
            generator: sampling.period.evidence().clone(),
        };
        step.rtt = record.messages.answers().rtt(options.limit_percentile);
        step.health = sampling.period.health(Some(main_figure(&sampling)));
        step.sampling = Some(sampling);
        run.sink.measured(readings);
        step.time = SystemTime::now();
    }
    run.tell_trouble();
    step.drops = run.take_drops();
    Ok(step)
}

fn plan(options: &Exchange) -> Plan {
    Plan {
        command: options.command,
        n_samples: options.n_samples,
        width: options.width,
        wait: options.wait,
        answer_limit: options.answer_limit,
    }
}

/// Puts the coordinator's and the workers' records of a step together.
fn account(record: &StepRecord, report: &Report, period: Period) -> Sampling {
    let StepRecord {
        command,
        table,
        messages,
        deliveries,
    } = record;
    let tally = &report.tally;
    let delivered = || Deliveries {
        counts: DeliveryCounts {
            n_expected: tally.n_expected,
            n_delivered: tally.n_delivered,
            n_late: 0,
            n_duplicated: tally.n_duplicated,
            n_out_of_order: tally.n_out_of_order,
        },
        listener: Distribution::from(deliveries),
        last_delivery: Distribution::from(&messages.last_deliveries(table)),
    };
    Sampling {
        period,
        n_sent: messages.n_issued() as u64,
        n_unanswered: messages.n_unanswered() as u64,
        answer: Distribution::from(&messages.answer_histogram()),
        deliveries: (*command == Command::Broadcast).then(delivered),
    }
}

/// Moves deliveries that arrived after their step's account to that step. Returns the last report.
async fn credit_late_arrivals(run: &mut Run<'_>, steps: &mut [Step]) -> Result<Report, RunError> {
    let mut report = Report::default();
    for (step_idx, step) in steps.iter_mut().enumerate() {
        report = run.report(step_idx).await?;
        let Some(before) = step.sampling.take() else {
            continue;
        };
        let mut now = account(run.step(step_idx), &report, before.period);
        if let (Some(before), Some(now)) = (before.deliveries, &mut now.deliveries) {
            now.counts.n_late = now.counts.n_delivered - before.counts.n_delivered;
        }
        step.sampling = Some(now);
    }
    Ok(report)
}

/// The latency that a reader looks at first, and that the generator's own lateness must not shape.
fn main_figure(sampling: &Sampling) -> Duration {
    let distribution = sampling
        .deliveries
        .as_ref()
        .map_or(&sampling.answer, |it| &it.listener);
    Duration::from_micros(distribution.p95)
}

/// Whether the step is the last one: the planned number of steps decides, or without it the first step over the
/// limit.
fn is_last(options: &Exchange, step_idx: usize, step: &Step) -> bool {
    match options.steps.n_steps {
        Some(n_steps) => step_idx + 1 >= n_steps,
        None => step.rtt.is_none_or(|rtt| rtt.percentile > options.limit_rtt),
    }
}
