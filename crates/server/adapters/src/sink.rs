//! The receiver of payloads.

/// Receives payloads as they were published.
pub trait Sink: Send + Sync {
    /// Receives one payload. When this returns, the payload is done, valid or not: an invalid one would not become
    /// valid by a second attempt.
    fn accept(&self, payload: &[u8]) -> impl Future<Output = ()> + Send;
}
