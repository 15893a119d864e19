//! The part of an agent in a run of the engine.

use std::{cell::RefCell, future::pending, ops::Range, sync::Arc, time::Duration};

use plimsoll_load::{
    generator::{Monitor, Window},
    metrics::Registry,
    plan::Plan,
    run::{self, Control, LastPart, Part, Progress, RunConfig, RunError, planned_vus},
    vu::{Lifecycle, VuFactory},
};
use serde_json::value::{RawValue, to_raw_value};

use crate::{Duty, exchange::talk, gate::Gate, message::Told, samples::Relay};

/// The longest stage of an agent: it waits for the others in it.
const WHILE_IT_TAKES: Duration = Duration::from_secs(365 * 24 * 3600);

/// The part of a run that an agent is judged in, unless it is a step of a search: all of it.
pub const WHOLE: Range<Duration> = Duration::ZERO..Duration::MAX;

/// Carries out an agent's part of a run: waits for the others, and tells each second what happened. `judged` is the part of
/// the run, since its start, that the agent's generator is judged in. To be polled on a local runtime.
pub async fn take_part<S: Lifecycle>(
    duty: &Duty,
    plan: Plan,
    registry: Registry,
    factory: Arc<dyn VuFactory>,
    stages: &mut S,
    judged: Range<Duration>,
) {
    let control = Control::of(&Plan {
        paused: false,
        ..plan.clone()
    });
    let planned = u32::try_from(planned_vus(&plan)).unwrap_or(u32::MAX);
    let mut gate = Gate {
        stages,
        duty: duty.clone(),
        setup_timeout: plan.setup_timeout,
        teardown_timeout: plan.teardown_timeout,
        planned_vus: planned,
        has_teardown: plan.has_teardown,
        start: None,
    };
    let monitor = Monitor::new();
    let window = RefCell::new(Window::new(monitor.clone(), judged));
    let relay = duty.gives_samples.then(|| Relay::start(duty));
    let config = RunConfig {
        samples: relay.iter().map(Relay::queue).collect(),
        control: control.clone(),
        monitor,
        ..RunConfig::new(Plan {
            has_setup: true,
            has_teardown: true,
            setup_timeout: WHILE_IT_TAKES,
            teardown_timeout: WHILE_IT_TAKES,
            paused: false,
            ..plan
        })
    };
    let exchange = gate.stages.exchange();
    let scenes = RefCell::new(Vec::new());
    let observe = |progress: &Progress<'_>| {
        window.borrow_mut().observe(progress.recent.end);
        let part = Part::of(progress);
        scenes.replace(part.standing.scenarios.clone());
        if !duty.tell_part(&part) {
            tracing::error!(
                "The coordinator has taken nothing for minutes, so a part of the figures is lost."
            );
        }
    };
    let running = run::run(config, registry, factory, &mut gate, observe, duty.stopped());
    let outcome = tokio::select! {
        outcome = running => outcome,
        () = follow(duty, &control) => return,
        () = talk(duty, exchange) => return,
    };
    match outcome {
        Ok(result) => {
            if let Some(relay) = relay {
                relay.finish(duty).await;
            }
            if let Some(outcome) = stages
                .outcome()
                .and_then(|outcome| RawValue::from_string(outcome).ok())
            {
                duty.tell(Told::Outcome(outcome)).await;
            }
            let mut last = LastPart::of(&result, scenes.into_inner());
            last.evidence = window.into_inner().finish(last.evidence);
            if let Ok(last) = to_raw_value(&last) {
                duty.tell(Told::Ended(last)).await;
            }
        }
        Err(error) => duty.refuse(&error, matches!(error, RunError::Vu { .. })).await,
    }
}

/// Follows the controller, for as long as there is one.
async fn follow(duty: &Duty, control: &Control) {
    let mut known = None;
    loop {
        let changed = duty.until(|orders| orders.steering.filter(|steering| Some(*steering) != known));
        let Some(steering) = changed.await else {
            return pending().await;
        };
        known = Some(steering);
        let followed = if steering.is_paused {
            control.pause()
        } else {
            control.resume();
            Ok(())
        };
        let followed =
            followed.and_then(|()| control.scale(Some(steering.vus), Some(steering.max_vus.max(1))));
        if let Err(error) = followed {
            tracing::warn!("The controller's order is impossible here: {error}.");
        }
    }
}
