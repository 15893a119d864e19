//! The end of a step: waiting for what is still missing.
//!
//! A step ends when everything has arrived, when nothing has arrived for a while, or at a hard cap. Each arrival begins the
//! while anew: a target that is slow is measured to its end, and a target that has stopped does not hold up the run.

use std::time::{Duration, Instant};

use super::{
    deadlines::{Deadlines, earliest},
    quiet::Quiet,
};
use crate::{
    options::Waits,
    run::{Run, RunError, Turn},
    sink::Progress,
};

/// The interval between questions about deliveries. Reason: people cannot follow more.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Waits for missing deliveries, and for answers until their deadlines.
pub(super) async fn drain(
    run: &mut Run<'_>,
    waits: Waits,
    step_idx: usize,
    mut deadlines: Deadlines,
) -> Result<(), RunError> {
    let begin = Instant::now();
    let cap = begin.checked_add(waits.drain);
    let mut quiet = Quiet::new(waits.quiet, begin);
    let mut look_at = begin;
    loop {
        let now = Instant::now();
        for id in deadlines.expired(now) {
            run.step(step_idx).messages.give_up(id, now);
        }
        let messages = &mut run.step(step_idx).messages;
        let is_over = messages.n_spreading() == 0 && messages.n_awaited() == 0;
        if is_over || cap.is_some_and(|cap| now >= cap) || run.interrupt.is_urgent() {
            break;
        }
        let look = Some(look_at).filter(|_| !run.is_surveying());
        let due = earliest(earliest(look, quiet.ends().filter(|_| look.is_some())), cap);
        match run.turn(earliest(due, deadlines.next())).await? {
            Turn::Settled => quiet.heard(Instant::now()),
            Turn::Surveyed(surveyed) => {
                surveyed
                    .standing
                    .last_at
                    .into_iter()
                    .for_each(|at| quiet.heard(at));
                if quiet.is_over(surveyed.asked_at) {
                    break;
                }
                let n_unanswered = run.step(step_idx).messages.n_awaited();
                run.sink.progress(Progress::Waiting {
                    n_missing: surveyed.standing.n_missing(),
                    n_expected: surveyed.standing.n_expected,
                    n_unanswered,
                    silence: quiet.length(Instant::now()),
                });
            }
            Turn::Due => {
                let now = Instant::now();
                if now >= look_at || quiet.is_over(now) {
                    run.ask_survey().await?;
                    look_at = now + LOOK_EVERY;
                }
            }
            _ => {}
        }
    }
    run.step(step_idx).messages.give_up_all(Instant::now());
    Ok(())
}
