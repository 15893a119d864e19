//! One virtual user on its way through its windows of activity.

use std::rc::Rc;

use tokio::{
    task::coop,
    time::{Instant, sleep_until, timeout_at},
};

use super::account::Account;
use crate::{
    executor::Window,
    vu::{IterationContext, Vu, VuId},
};

/// Iterates `vu` in each window; `start` is time zero of all of them.
pub(super) async fn drive(
    mut vu: Box<dyn Vu>,
    index: u32,
    windows: Vec<Window>,
    start: Instant,
    account: Rc<Account>,
) {
    let mut context = IterationContext {
        vu: VuId::from_index(index),
        iteration: 0,
        metrics: account.recorder(),
    };
    for window in windows {
        sleep_until(start + window.start).await;
        let _active = account.activate();
        while Instant::now() < start + window.stop {
            if !iterate(&mut *vu, &mut context, start + window.interrupt, &account).await {
                break;
            }
            context.iteration += 1;
            // Iterations that never wait (a refused connection, say) must not hold up the worker's other users.
            coop::consume_budget().await;
        }
    }
}

/// Runs one iteration; false when it had to be interrupted.
async fn iterate(
    vu: &mut dyn Vu,
    context: &mut IterationContext,
    interrupt: Instant,
    account: &Account,
) -> bool {
    let iteration = account.begin_iteration();
    let begin = Instant::now();
    match timeout_at(interrupt, vu.iterate(context)).await {
        Ok(result) => {
            iteration.complete(begin.elapsed(), result);
            true
        }
        Err(_) => false,
    }
}
