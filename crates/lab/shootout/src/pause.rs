//! The time between two steps.

use std::{future::pending, time::Duration};

use tokio::{sync::oneshot, time::sleep};

/// Asks the person at the terminal for the next step. The answer arrives at the returned receiver.
pub type GoAhead = fn() -> oneshot::Receiver<()>;

/// The pause between two steps.
#[derive(Debug, Clone, Copy)]
pub struct BetweenSteps {
    /// The question that must be answered before the next step; `None` when it begins automatically.
    pub go_ahead: Option<GoAhead>,
    /// The time to wait after the answer.
    pub delay: Duration,
}

impl BetweenSteps {
    /// Waits until the next step may begin: without end, when the permission never comes.
    pub(crate) async fn pause(self) {
        if let Some(go_ahead) = self.go_ahead
            && go_ahead().await.is_err()
        {
            pending::<()>().await;
        }
        if !self.delay.is_zero() {
            sleep(self.delay).await;
        }
    }
}
