//! What a listening socket serves.

/// What a listener is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Clients: WebSocket and HTTP.
    Clients,
    /// Backends that broadcast without a key: nothing but HTTP.
    Broadcasts,
    /// Monitoring that must not be open to clients: nothing but HTTP, and of that only metrics and health.
    Metrics,
}
