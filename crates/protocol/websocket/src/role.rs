//! The two ends of a connection.

/// Our end of the connection (RFC 6455 §5.1: a client masks its frames, a server never does).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// We opened the connection: we mask, the peer must not.
    Client,
    /// We accepted the connection: the peer must mask, we must not.
    Server,
}

impl Role {
    /// The role of the other end.
    pub fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}
