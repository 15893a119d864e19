//! The user's wish to end the run early.

use tokio::sync::mpsc;

/// Ctrl-C, counted: the first ends the run after what is in flight, the second ends the waiting for that, too.
#[derive(Debug)]
pub struct Interrupt {
    /// One message per Ctrl-C. Capacity and overflow are the sender's: more than two have no meaning.
    signals: mpsc::Receiver<()>,
    n_seen: u32,
}

impl Interrupt {
    /// An interrupt for every message that comes through the channel.
    pub fn new(signals: mpsc::Receiver<()>) -> Self {
        Self { signals, n_seen: 0 }
    }

    /// Waits for the next one, or forever.
    pub(crate) async fn next(&mut self) {
        match self.signals.recv().await {
            Some(()) => self.n_seen += 1,
            None => std::future::pending().await,
        }
    }

    /// The run should wind down.
    pub(crate) fn is_requested(&self) -> bool {
        self.n_seen > 0
    }

    /// The run should end now.
    pub(crate) fn is_urgent(&self) -> bool {
        self.n_seen > 1
    }
}
