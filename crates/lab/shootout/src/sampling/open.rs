//! The open model: messages are sent at the times of a schedule, whatever the target answers.
//!
//! The times of a message count from its scheduled send. So a stall shows in all messages that it delays, also in those
//! that a closed loop would not have sent.

use std::time::Instant;

use plimsoll_load::pacer::Pacer;

use super::{Plan, deadlines::Deadlines, deadlines::earliest};
use crate::{
    options::Schedule,
    run::{Run, RunError},
    sink::Progress,
};

/// Sends all messages of the schedule. Returns the deadlines of their answers.
pub(super) async fn send(
    run: &mut Run<'_>,
    plan: &Plan<'_>,
    step_idx: usize,
    schedule: &Schedule,
) -> Result<Deadlines, RunError> {
    let pacer = Pacer::new().map_err(RunError::Timer)?;
    let mut deadlines = Deadlines::default();
    // Agents get their orders ahead of the schedule, and keep it themselves.
    let lead = run.fleet.lead();
    let (begin, n_total) = (Instant::now() + lead, schedule.n_messages());
    let mut n_sent = 0;
    while let Some(offset) = schedule.start(n_sent) {
        if run.interrupt.is_requested() {
            break;
        }
        let due = begin + offset;
        let now = Instant::now();
        for id in deadlines.expired(now) {
            run.step(step_idx).messages.give_up(id, now);
        }
        let order_at = due.checked_sub(lead).unwrap_or(now);
        if now < order_at {
            let wake_at = earliest(Some(order_at), deadlines.next()).unwrap_or(order_at);
            run.turn_on_time(wake_at, &pacer).await?;
        } else if let Some(id) = run.send(Some(due)).await? {
            deadlines.add(due + plan.waits.answer, id);
            n_sent += 1;
            // Hears what has arrived even when it is behind the schedule.
            run.turn_on_time(now, &pacer).await?;
        } else {
            run.note(format!(
                "no client is connected any more; {} of {n_total} scheduled messages are not sent",
                n_total - n_sent
            ));
            break;
        }
        let n_connected = run.fleet.n_connected();
        let n_in_flight = run.step(step_idx).messages.n_spreading();
        run.sink.progress(Progress::Scheduled {
            n_sent,
            n_total,
            n_connected,
            n_in_flight,
        });
    }
    Ok(deadlines)
}
