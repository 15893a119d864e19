//! The clock by which arrivals start.

use tokio::time::Instant;

use crate::pacer::Pacer;

/// What wakes virtual users that wait for an arrival.
pub(super) enum Clock {
    /// A timer of the kernel, for runs in real time.
    Kernel(Pacer),
    /// The runtime's timers, which tests can move in virtual time.
    #[cfg(test)]
    Runtime,
}

impl Clock {
    pub(super) async fn until(&self, due: Instant) {
        match self {
            Self::Kernel(pacer) => {
                // The pacer of a run is never stopped: its waits are dropped with their users.
                pacer.until(due.into_std()).await;
            }
            #[cfg(test)]
            Self::Runtime => tokio::time::sleep_until(due).await,
        }
    }

    /// Wakes users, and never ends.
    pub(super) async fn run(&self) {
        match self {
            Self::Kernel(pacer) => pacer.run().await,
            #[cfg(test)]
            Self::Runtime => std::future::pending().await,
        }
    }
}
