//! The subscriptions of a resumed session that are held: kept messages pass them by until they go on.

use tokio::time::Instant;

/// The held subscriptions of a session, at least one.
#[derive(Debug)]
pub(super) struct Held {
    /// The end of the client's time to ask for history.
    pub(super) until: Instant,
    /// The serial number of the last message that the shard had delivered when the client came back.
    pub(super) seen: u64,
    pub(super) identifiers: Vec<Box<str>>,
}

impl Held {
    /// Completes when the client's time is over.
    pub(super) async fn is_over(&self) {
        tokio::time::sleep_until(self.until).await;
    }
}
