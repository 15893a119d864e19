//! The messages of `proto/rpc.proto`, and the names of the calls.
//!
//! Replies are used as prost makes them. Requests are written by [`crate::request`], for which those here are the measure
//! in tests.

mod json;
#[cfg(test)]
mod tests;

pub(crate) use messages::*;

mod messages {
    #![expect(unreachable_pub, reason = "generated code is public whatever it is used for")]
    // Written by a test (`proto/tests.rs`).
    include!("../proto/anycable.inc");
}

/// What is asked of an application; also the name of the call in gRPC's service `anycable.RPC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Connect,
    Command,
    Disconnect,
}

impl Method {
    pub(crate) const COUNT: usize = Self::ALL.len();

    pub(crate) const ALL: [Self; 3] = [Self::Connect, Self::Command, Self::Disconnect];

    /// Where gRPC calls go.
    pub(crate) fn grpc_path(self) -> &'static str {
        match self {
            Self::Connect => "/anycable.RPC/Connect",
            Self::Command => "/anycable.RPC/Command",
            Self::Disconnect => "/anycable.RPC/Disconnect",
        }
    }

    /// Where HTTP calls go below the application's URL.
    pub(crate) fn http_segment(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Command => "command",
            Self::Disconnect => "disconnect",
        }
    }
}
