//! The messages of `crates/server/rpc/proto/rpc.proto`, with those fields only that this application reads or writes;
//! protocol buffers pass over the others.

use prost::Message;

/// `Status` in the contract.
pub(crate) const SUCCESS: i32 = 1;
/// The client may not do this.
pub(crate) const FAILURE: i32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ConnectionResponse {
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
    #[prost(string, tag = "2")]
    pub(crate) identifiers: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) transmissions: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CommandMessage {
    #[prost(string, tag = "1")]
    pub(crate) command: String,
    #[prost(string, tag = "2")]
    pub(crate) identifier: String,
    #[prost(string, tag = "4")]
    pub(crate) data: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CommandResponse {
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
    #[prost(bool, tag = "3")]
    pub(crate) stop_streams: bool,
    #[prost(string, repeated, tag = "4")]
    pub(crate) streams: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub(crate) transmissions: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DisconnectResponse {
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
}
