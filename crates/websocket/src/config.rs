//! The settings that many connections of one endpoint share.

use crate::deflate::Preferences;

/// Which end of the connection *we* are (RFC 6455 §5.1: a client masks its frames, a server never does).
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

/// Settings of an endpoint, shared by all its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Our own role.
    pub role: Role,
    /// The largest message that is accepted, in bytes of payload after reassembly and inflation. A larger one is
    /// refused with close code 1009 before it is stored; 0 admits only empty messages.
    pub max_message_bytes: usize,
    /// What to ask for when permessage-deflate is negotiated in the handshake; `None` never negotiates it. What a
    /// connection then really uses is its own [`Agreed`](crate::deflate::Agreed), given to
    /// [`Decoder::with_deflate`](crate::Decoder::with_deflate).
    pub deflate: Option<Preferences>,
}
