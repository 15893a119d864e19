//! The messages of `proto/rpc.proto`, and which call each request belongs to.

use http::uri::PathAndQuery;

pub(crate) use messages::*;

mod messages {
    #![expect(unreachable_pub, reason = "generated code is public whatever it is used for")]
    include!(concat!(env!("OUT_DIR"), "/anycable.rs"));
}

/// A request of the service `anycable.RPC`.
pub(crate) trait Call: prost::Message + Clone + 'static {
    /// What the application answers.
    type Reply: prost::Message + Default + 'static;

    /// Where the call goes.
    const PATH: &'static str;

    fn path() -> PathAndQuery {
        PathAndQuery::from_static(Self::PATH)
    }
}

impl Call for ConnectionRequest {
    type Reply = ConnectionResponse;
    const PATH: &'static str = "/anycable.RPC/Connect";
}

impl Call for CommandMessage {
    type Reply = CommandResponse;
    const PATH: &'static str = "/anycable.RPC/Command";
}

impl Call for DisconnectRequest {
    type Reply = DisconnectResponse;
    const PATH: &'static str = "/anycable.RPC/Disconnect";
}
