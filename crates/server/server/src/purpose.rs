//! The purpose of a listening socket.

/// The purpose of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Clients: WebSocket and HTTP.
    Clients,
    /// Backends that broadcast without a key: HTTP only.
    Broadcasts,
    /// Backends that use the REST API on a port of its own: HTTP only.
    Api,
    /// Monitoring that must not be open to clients: HTTP only, and of that only metrics and health.
    Metrics,
}
