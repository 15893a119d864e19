//! Where payloads go.

/// Takes payloads as they were published.
pub trait Sink: Send + Sync {
    /// Takes one. When this returns it is done with, whether it was valid or not: an invalid one would be no
    /// better the second time.
    fn accept(&self, payload: &[u8]) -> impl Future<Output = ()> + Send;
}
