//! Settings that many connections of one endpoint share.

use crate::{deflate::Preferences, role::Role};

/// Settings of an endpoint, shared by all its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Our own role.
    pub role: Role,
    /// The largest accepted message, in bytes of payload after reassembly and inflation. A larger one is refused with
    /// close code 1009 before it is stored; 0 allows only empty messages.
    pub max_message_bytes: usize,
    /// The parameters to ask for when permessage-deflate is negotiated in the handshake; `None` never negotiates it.
    /// The parameters in use are the connection's own [`Agreed`](crate::deflate::Agreed), given to
    /// [`Decoder::with_deflate`](crate::Decoder::with_deflate).
    pub deflate: Option<Preferences>,
}
