//! The time between two steps.

use std::{future::pending, time::Duration};

use tokio::{sync::oneshot, time::sleep};

/// Asks whoever looks on for the next step, and gives the place where the answer arrives.
pub type GoAhead = fn() -> oneshot::Receiver<()>;

/// What happens between two steps.
#[derive(Debug, Clone, Copy)]
pub struct BetweenSteps {
    /// Who has to allow the next step; `None` when it begins by itself.
    pub go_ahead: Option<GoAhead>,
    /// How long to wait after that.
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
