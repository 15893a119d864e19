//! The workload `connect`: many clients at once, each timed from before its TCP connect until it is ready.

use std::time::{Duration, SystemTime};

use plimsoll_load::histogram::Histogram;

use crate::{
    interrupt::Interrupt,
    options::Connect,
    outcome::{Outcome, Step, Workload},
    ramp::ramp,
    remote::Agents,
    run::{Run, RunError},
    sink::{Readings, Sink},
    worker::Report,
};

/// websocket-bench prints the 95th percentile here and has no flag for another.
const PERCENTILE: u8 = 95;

/// Runs the workload to its end, or until the user interrupts it. `agents` have the clients; `None`: this process has them.
///
/// # Errors
/// [`RunError`]. Clients that failed are not errors: the outcome tells them.
pub async fn run(
    options: &Connect,
    interrupt: Interrupt,
    agents: Option<Agents>,
    sink: &mut dyn Sink,
) -> Result<Outcome, RunError> {
    let mut run = Run::start(
        (Workload::Connect, options.plan()),
        &options.common,
        &options.steps,
        (0, None),
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
    Ok(run.finish(steps, &Report::default()).await)
}

async fn take_step(run: &mut Run<'_>, options: &Connect, step_idx: usize) -> Result<Step, RunError> {
    run.begin_step(step_idx).await?;
    let n_asked = options.steps.n_added(step_idx);
    let ramp = ramp(run, n_asked, options.steps.connect_width).await?;
    let rtt = ramp.samples.clone().rtt(PERCENTILE);
    let connects = ramp.samples.durations().to_vec();
    let connect = ramp.account(run.lap().await?);
    run.sink.measured(Readings {
        answers: Vec::new(),
        deliveries: Vec::new(),
        listeners: Histogram::small(),
        connects,
        generator: connect.period.evidence().clone(),
        agents: connect.period.agents().to_vec(),
        doubt: None,
    });
    run.tell_trouble();
    if step_idx == 0 && connect.n_connected == 0 && !run.interrupt.is_requested() {
        return Err(RunError::NobodyReady {
            n_clients: n_asked,
            causes: connect.failures,
        });
    }
    Ok(Step {
        time: SystemTime::now(),
        n_clients: run.fleet.n_connected(),
        limit_percentile: PERCENTILE,
        rtt,
        delivery: None,
        health: connect
            .period
            .health(Some(Duration::from_micros(connect.total.p95))),
        connect,
        sampling: None,
        drops: run.take_drops(),
    })
}

/// Without a planned number of steps, a step in which no client became ready is the last one: further steps would
/// show nothing new.
fn is_last(options: &Connect, step_idx: usize, step: &Step) -> bool {
    match options.steps.n_steps {
        Some(n_steps) => step_idx + 1 >= n_steps,
        None => step.connect.n_connected == 0,
    }
}
