//! The messages of `proto/rpc.proto`, and the names of the calls.
//!
//! Replies are prost's types. Requests are written by [`crate::request`]; prost's types for them are the reference in
//! tests.

mod json;
#[cfg(test)]
mod tests;

pub(crate) use messages::*;

mod messages {
    #![expect(unreachable_pub, reason = "generated code is public whatever it is used for")]
    // Written by a test (`proto/tests.rs`).
    include!("../proto/anycable.inc");
}

/// A call to an application. Its name is also the name in gRPC's service `anycable.RPC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Connect,
    Command,
    Disconnect,
}

impl Method {
    pub(crate) const COUNT: usize = Self::ALL.len();

    pub(crate) const ALL: [Self; 3] = [Self::Connect, Self::Command, Self::Disconnect];

    /// The path of gRPC calls.
    pub(crate) fn grpc_path(self) -> &'static str {
        match self {
            Self::Connect => "/anycable.RPC/Connect",
            Self::Command => "/anycable.RPC/Command",
            Self::Disconnect => "/anycable.RPC/Disconnect",
        }
    }

    /// The path segment of HTTP calls, below the application's URL.
    pub(crate) fn http_segment(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Command => "command",
            Self::Disconnect => "disconnect",
        }
    }
}
