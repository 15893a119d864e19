//! The messages of AnyCable's contract, in both encodings: protocol buffers for gRPC, and JSON with the same names.
//!
//! Numbers and names are those of docs/protocols/rpc.md, written down a second time: the suite shares nothing with what it
//! tests. End-to-end tests show that they agree with `crates/server/rpc/proto/rpc.proto`, and that file with foreign applications.

use std::collections::HashMap;

use prost::Message;
use serde::{Deserialize, Serialize};

/// `Status`: done.
pub(super) const SUCCESS: i32 = 1;
/// `Status`: the client may not do this.
pub(super) const FAILURE: i32 = 2;

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(super) struct Env {
    #[prost(string, tag = "1")]
    pub(super) url: String,
    #[prost(map = "string, string", tag = "2")]
    pub(super) headers: HashMap<String, String>,
    #[prost(map = "string, string", tag = "3")]
    pub(super) cstate: HashMap<String, String>,
    #[prost(map = "string, string", tag = "4")]
    pub(super) istate: HashMap<String, String>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct EnvResponse {
    #[prost(map = "string, string", tag = "1")]
    pub(super) cstate: HashMap<String, String>,
    #[prost(map = "string, string", tag = "2")]
    pub(super) istate: HashMap<String, String>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct PresenceResponse {
    #[prost(string, tag = "1")]
    pub(super) r#type: String,
    #[prost(string, tag = "2")]
    pub(super) id: String,
    /// JSON.
    #[prost(string, tag = "3")]
    pub(super) info: String,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(super) struct ConnectionRequest {
    #[prost(message, optional, tag = "3")]
    pub(super) env: Option<Env>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct ConnectionResponse {
    #[prost(int32, tag = "1")]
    pub(super) status: i32,
    #[prost(string, tag = "2")]
    pub(super) identifiers: String,
    #[prost(string, repeated, tag = "3")]
    pub(super) transmissions: Vec<String>,
    #[prost(string, tag = "4")]
    pub(super) error_msg: String,
    #[prost(message, optional, tag = "5")]
    pub(super) env: Option<EnvResponse>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(super) struct CommandMessage {
    #[prost(string, tag = "1")]
    pub(super) command: String,
    #[prost(string, tag = "2")]
    pub(super) identifier: String,
    #[prost(string, tag = "3")]
    pub(super) connection_identifiers: String,
    #[prost(string, tag = "4")]
    pub(super) data: String,
    #[prost(message, optional, tag = "5")]
    pub(super) env: Option<Env>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct CommandResponse {
    #[prost(int32, tag = "1")]
    pub(super) status: i32,
    #[prost(bool, tag = "2")]
    pub(super) disconnect: bool,
    #[prost(bool, tag = "3")]
    pub(super) stop_streams: bool,
    #[prost(string, repeated, tag = "4")]
    pub(super) streams: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub(super) transmissions: Vec<String>,
    #[prost(string, tag = "6")]
    pub(super) error_msg: String,
    #[prost(message, optional, tag = "7")]
    pub(super) env: Option<EnvResponse>,
    #[prost(string, repeated, tag = "8")]
    pub(super) stopped_streams: Vec<String>,
    #[prost(message, optional, tag = "9")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presence: Option<PresenceResponse>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(super) struct DisconnectRequest {
    #[prost(string, tag = "1")]
    pub(super) identifiers: String,
    #[prost(string, repeated, tag = "2")]
    pub(super) subscriptions: Vec<String>,
    #[prost(message, optional, tag = "5")]
    pub(super) env: Option<Env>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct DisconnectResponse {
    #[prost(int32, tag = "1")]
    pub(super) status: i32,
    #[prost(string, tag = "2")]
    pub(super) error_msg: String,
}
