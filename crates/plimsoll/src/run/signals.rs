//! SIGINT and SIGTERM: the first ends a run in good order, the second at once.

use std::io;

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

/// Counts the signals that tell this process to end.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    count: watch::Receiver<u32>,
}

impl Signals {
    /// Handles them from now on. To be called on a `LocalSet`.
    pub(super) fn listen() -> io::Result<Self> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let (sender, count) = watch::channel(0);
        tokio::task::spawn_local(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                sender.send_modify(|count| *count += 1);
            }
        });
        Ok(Self { count })
    }

    /// Waits until there were `n` of them.
    pub(super) async fn received(&self, n: u32) {
        // The task that counts lives as long as the process handles signals.
        drop(self.count.clone().wait_for(|count| *count >= n).await);
    }
}
