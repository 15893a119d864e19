//! The closed loop of websocket-bench: a fixed number of messages in flight, until a fixed number has been sent.

use std::time::{Duration, Instant};

use super::{
    Plan,
    deadlines::{Deadlines, earliest},
    quiet::Quiet,
};
use crate::{
    run::{Run, RunError, Turn},
    sink::Progress,
    window::Window,
    wire::Command,
};

/// Sends `n_samples` messages, `width` at a time, and waits for their answers or gives them up.
pub(super) async fn exchange(
    run: &mut Run<'_>,
    plan: &Plan<'_>,
    step_idx: usize,
    (n_samples, width): (usize, usize),
) -> Result<Deadlines, RunError> {
    let mut window = Window::new(n_samples, width, run.command_delay());
    let mut deadlines = Deadlines::default();
    let mut quiet = Quiet::new(plan.waits.quiet, Instant::now());
    let mut refusals = Refusals::new(width);
    loop {
        let now = Instant::now();
        for id in deadlines.expired(now) {
            if run.step(step_idx).messages.give_up(id, now) {
                window.done();
                refusals.add(1);
            }
        }
        if refusals.are_final() && window.has_more() {
            let n_unsent = n_samples - run.step(step_idx).messages.n_issued();
            run.note(refusals.told(plan.command, n_unsent));
            window.stop();
        }
        for _ in 0..window.admit(now, || run.is_delayed()) {
            match run.send(None).await? {
                Some(id) => {
                    deadlines.add(now + plan.waits.answer, id);
                    quiet.heard(now);
                }
                None => {
                    window.done();
                    window.stop();
                }
            }
        }
        if window.is_finished() {
            return Ok(Deadlines::default());
        }
        // Echoes come to their sender only, so their answers have no other sign of life than themselves.
        let has_silence = plan.command == Command::Broadcast && run.step(step_idx).messages.n_awaited() > 0;
        let silence_ends = quiet.ends().filter(|_| has_silence && !run.is_surveying());
        let due = earliest(earliest(window.next_due(), deadlines.next()), silence_ends);
        match run.turn(due).await? {
            Turn::Settled => {
                window.done();
                refusals.clear();
                quiet.heard(Instant::now());
            }
            Turn::Surveyed(surveyed) => {
                surveyed
                    .standing
                    .last_at
                    .into_iter()
                    .for_each(|at| quiet.heard(at));
                if has_silence && quiet.is_over(surveyed.asked_at) {
                    let n_given_up = run.step(step_idx).messages.give_up_all(Instant::now());
                    (0..n_given_up).for_each(|_| window.done());
                    refusals.add(n_given_up);
                }
            }
            Turn::Due if has_silence && quiet.is_over(Instant::now()) => run.ask_survey().await?,
            Turn::Interrupted => {
                window.stop();
                let wait = if run.interrupt.is_urgent() {
                    Duration::ZERO
                } else {
                    plan.waits.quiet
                };
                if let Some(latest) = Instant::now().checked_add(wait) {
                    deadlines.bring_forward(latest);
                }
            }
            _ => {}
        }
        let n_connected = run.fleet.n_connected();
        let messages = &run.step(step_idx).messages;
        let (n_done, n_spreading) = (messages.n_settled(), messages.n_spreading());
        run.sink.progress(Progress::Sampling {
            n_done,
            n_total: n_samples,
            n_connected,
            n_in_flight: n_spreading,
            silence: quiet.length(Instant::now()),
        });
    }
}

/// Messages in a row without an answer. A target that answers nothing would otherwise take `--answer-timeout` for each
/// window of messages.
#[derive(Debug)]
struct Refusals {
    limit: usize,
    n_in_a_row: usize,
}

impl Refusals {
    /// As many as are in flight at a time are enough, but never one alone.
    fn new(width: usize) -> Self {
        Self {
            limit: width.max(2),
            n_in_a_row: 0,
        }
    }

    fn add(&mut self, n: usize) {
        self.n_in_a_row += n;
    }

    fn clear(&mut self) {
        self.n_in_a_row = 0;
    }

    fn are_final(&self) -> bool {
        self.n_in_a_row >= self.limit
    }

    fn told(&self, command: Command, n_unsent: usize) -> String {
        let n = self.n_in_a_row;
        let (verb, messages) = match command {
            Command::Broadcast => ("acknowledged", "broadcasts"),
            Command::Echo => ("returned", "messages"),
        };
        format!(
            "the target {verb} none of {n} {messages} in a row; the other {n_unsent} of this step are not sent"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_answers_nothing_is_told_from_one_that_forgets_some() {
        let mut refusals = Refusals::new(1);
        refusals.add(1);
        assert!(!refusals.are_final(), "one may be an accident");
        refusals.clear();
        refusals.add(1);
        refusals.add(1);
        assert!(refusals.are_final());
        let mut refusals = Refusals::new(4);
        refusals.add(3);
        assert!(!refusals.are_final());
        refusals.add(1);
        assert!(refusals.are_final());
        assert_eq!(
            refusals.told(Command::Broadcast, 16),
            "the target acknowledged none of 4 broadcasts in a row; the other 16 of this step are not sent"
        );
    }
}
