//! The messages of a step of `broadcast` and `echo`: sent in a closed loop or by a schedule, and then waited for.

mod closed;
mod deadlines;
mod drain;
mod messages;
mod open;
mod quiet;

use std::time::Duration;

pub(crate) use self::messages::{Arrival, Messages};
use crate::{
    options::{Model, Waits},
    run::{Run, RunError},
    wire::Command,
    worker::Report,
};

/// The messages to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) command: Command,
    pub(crate) model: &'a Model,
    pub(crate) waits: Waits,
}

/// Sends the messages of one step and waits until everything has arrived or will not. Returns the workers' account.
pub(crate) async fn sample(run: &mut Run<'_>, plan: &Plan<'_>) -> Result<Report, RunError> {
    let step_idx = run.open_step(plan.command, plan.model.n_messages()).await?;
    let deadlines = match plan.model {
        Model::Closed { n_samples, width } => {
            closed::exchange(run, plan, step_idx, (*n_samples, *width)).await?
        }
        Model::Open(schedule) => open::send(run, plan, step_idx, schedule).await?,
    };
    drain::drain(run, plan.waits, step_idx, deadlines).await?;
    let Waits { quiet, drain, .. } = plan.waits;
    // A second order to end cuts the waiting short.
    let at_least = if run.interrupt.is_urgent() {
        Duration::ZERO
    } else {
        quiet.min(drain)
    };
    Ok(run.close_step(step_idx, at_least).await?)
}
