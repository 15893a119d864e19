//! Orders to end a run early.

use tokio::sync::mpsc;

/// Orders to end, counted: the first one ends the run after what is in flight, the second one ends the waiting for that,
/// too.
#[derive(Debug)]
pub struct Interrupt {
    /// One message per order. The sender limits the capacity: more than two orders have no meaning.
    orders: mpsc::Receiver<()>,
    n_seen: u32,
}

impl Interrupt {
    /// Takes every message that comes through the channel as an order to end.
    pub fn new(orders: mpsc::Receiver<()>) -> Self {
        Self { orders, n_seen: 0 }
    }

    /// Waits for the next one, or forever.
    pub(crate) async fn next(&mut self) {
        match self.orders.recv().await {
            Some(()) => self.n_seen += 1,
            None => std::future::pending().await,
        }
    }

    /// The run ends at once, because a part of its load is gone.
    pub(crate) fn force(&mut self) {
        self.n_seen = self.n_seen.max(2);
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
