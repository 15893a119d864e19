//! The time between two steps.

use std::{future::pending, io, thread};

use tokio::{sync::oneshot, time::sleep};

use crate::options::BetweenSteps;

impl BetweenSteps {
    /// Waits for Enter if the user wants that, and then for the delay.
    pub(crate) async fn pause(self) {
        if self.is_interactive {
            enter().await;
        }
        if !self.delay.is_zero() {
            sleep(self.delay).await;
        }
    }
}

/// Waits for a line on standard input, without end when there is none. A thread of its own reads it: the runtime
/// would wait for a blocking task when the run is interrupted meanwhile.
async fn enter() {
    let (done, is_done) = oneshot::channel();
    let reader = thread::Builder::new().name("enter".to_owned()).spawn(move || {
        let mut line = String::new();
        if io::stdin().read_line(&mut line).is_ok_and(|n| n > 0) {
            // Nobody listens any more when the run was interrupted meanwhile.
            let _ = done.send(());
        }
    });
    if reader.is_err() || is_done.await.is_err() {
        pending::<()>().await;
    }
}
