//! The messages of `proto/rpc.proto`, and which call each request belongs to.

mod json;

use http::uri::PathAndQuery;
use serde::{Serialize, de::DeserializeOwned};

pub(crate) use messages::*;

mod messages {
    #![expect(unreachable_pub, reason = "generated code is public whatever it is used for")]
    include!(concat!(env!("OUT_DIR"), "/anycable.rs"));
}

/// What is asked of an application; also the name of the call in gRPC's service `anycable.RPC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Connect,
    Command,
    Disconnect,
}

/// A request.
pub(crate) trait Call: prost::Message + Clone + Serialize + 'static {
    /// What the application answers.
    type Reply: prost::Message + Default + DeserializeOwned + 'static;

    const METHOD: Method;
}

impl Method {
    pub(crate) const COUNT: usize = 3;

    /// Where gRPC calls go.
    pub(crate) fn grpc_path(self) -> PathAndQuery {
        PathAndQuery::from_static(match self {
            Self::Connect => "/anycable.RPC/Connect",
            Self::Command => "/anycable.RPC/Command",
            Self::Disconnect => "/anycable.RPC/Disconnect",
        })
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

impl Call for ConnectionRequest {
    type Reply = ConnectionResponse;
    const METHOD: Method = Method::Connect;
}

impl Call for CommandMessage {
    type Reply = CommandResponse;
    const METHOD: Method = Method::Command;
}

impl Call for DisconnectRequest {
    type Reply = DisconnectResponse;
    const METHOD: Method = Method::Disconnect;
}
