//! The closed loop of `broadcast` and `echo`: a fixed number of messages in flight, until a fixed number has been
//! sent.

mod messages;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

pub(crate) use self::messages::Messages;
use crate::{
    fleet::WorkerLost,
    run::{Run, Turn},
    sink::Progress,
    window::Window,
    wire::Command,
};

/// The messages to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) command: Command,
    pub(crate) n_samples: usize,
    /// The number of messages in flight.
    pub(crate) width: usize,
    /// The time to wait for deliveries after the last answer.
    pub(crate) wait: Duration,
    /// The time limit of an answer.
    pub(crate) answer_limit: Duration,
}

/// Sends the messages of one step and waits until everything has arrived or will not.
pub(crate) async fn sample(run: &mut Run<'_>, plan: &Plan) -> Result<(), WorkerLost> {
    let step_idx = run.open_step(plan.command, plan.n_samples).await?;
    let last_answer_at = exchange(run, plan, step_idx).await?;
    wait_for_deliveries(run, step_idx, last_answer_at + plan.wait).await
}

/// Returns when the last answer came.
async fn exchange(run: &mut Run<'_>, plan: &Plan, step_idx: usize) -> Result<Instant, WorkerLost> {
    let mut window = Window::new(plan.n_samples, plan.width, run.command_delay());
    let mut deadlines = Deadlines::default();
    let mut last_answer_at = Instant::now();
    loop {
        let now = Instant::now();
        for id in deadlines.expired(now) {
            if run.step(step_idx).messages.give_up(id, now) {
                window.done();
            }
        }
        for _ in 0..window.admit(now, || run.is_delayed()) {
            match run.send().await? {
                Some(id) => deadlines.add(now + plan.answer_limit, id),
                None => {
                    window.done();
                    window.stop();
                }
            }
        }
        if window.is_finished() {
            return Ok(last_answer_at);
        }
        match run.turn(earliest(window.next_due(), deadlines.next())).await? {
            Turn::Settled => {
                window.done();
                last_answer_at = Instant::now();
            }
            Turn::Interrupted => {
                window.stop();
                let wait = if run.interrupt.is_urgent() {
                    Duration::ZERO
                } else {
                    plan.wait
                };
                deadlines.bring_forward(Instant::now() + wait);
            }
            _ => {}
        }
        let n_connected = run.fleet.n_connected();
        let n_done = run.step(step_idx).messages.n_settled();
        run.sink.progress(Progress::Sampling {
            n_done,
            n_total: plan.n_samples,
            n_connected,
        });
    }
}

async fn wait_for_deliveries(run: &mut Run<'_>, step_idx: usize, end: Instant) -> Result<(), WorkerLost> {
    loop {
        let n_missing = run.step(step_idx).messages.n_spreading();
        if n_missing == 0 || run.interrupt.is_urgent() {
            return Ok(());
        }
        run.sink.progress(Progress::Waiting { n_missing });
        if let Turn::Due = run.turn(Some(end)).await? {
            return Ok(());
        }
    }
}

/// The deadlines of messages, the earliest first. It has at most `--sample-size` entries.
#[derive(Debug, Default)]
struct Deadlines {
    queue: VecDeque<(Instant, u64)>,
}

impl Deadlines {
    /// Adds a deadline. All messages have one limit, so the queue stays sorted.
    fn add(&mut self, deadline: Instant, id: u64) {
        self.queue.push_back((deadline, id));
    }

    fn next(&self) -> Option<Instant> {
        self.queue.front().map(|(deadline, _)| *deadline)
    }

    fn expired(&mut self, now: Instant) -> impl Iterator<Item = u64> {
        let n_expired = self
            .queue
            .iter()
            .take_while(|(deadline, _)| *deadline <= now)
            .count();
        self.queue.drain(..n_expired).map(|(_, id)| id)
    }

    /// No deadline is later than this.
    fn bring_forward(&mut self, latest: Instant) {
        for (deadline, _) in &mut self.queue {
            *deadline = latest.min(*deadline);
        }
    }
}

fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_expire_in_order_and_can_come_closer() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let mut deadlines = Deadlines::default();
        (1..=3).for_each(|id| deadlines.add(now + second * u32::try_from(id).unwrap(), id));
        assert_eq!(deadlines.expired(now + second).collect::<Vec<_>>(), [1]);
        deadlines.bring_forward(now + 2 * second);
        assert_eq!(deadlines.expired(now + 2 * second).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(deadlines.next(), None);
    }
}
