//! Replies of applications, for the fuzz targets. Only with the feature `fuzzing`, so not in the product.

use std::fmt::Debug;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use prost::Message as _;

use crate::{
    proto::{CommandResponse, ConnectionResponse, DisconnectResponse},
    request::Reply,
    translation::{command_reply, connect_reply, disconnect_reply},
    transport::{grpc_message, grpc_outcome},
};

/// Parses a gRPC body with its message prefix, and the same bytes as the text of a status.
pub fn grpc_reply(body: &[u8]) {
    if let Ok(message) = grpc_message(Bytes::copy_from_slice(body)) {
        protobuf_reply(&message);
    }
    let mut fields = HeaderMap::new();
    fields.insert("grpc-status", HeaderValue::from_static("14"));
    if let Ok(text) = HeaderValue::from_bytes(body) {
        fields.insert("grpc-message", text);
    }
    assert!(grpc_outcome(&fields).is_some_and(|outcome| outcome.is_err()));
}

/// Parses a message without its prefix, as each kind of reply.
pub fn protobuf_reply(message: &[u8]) {
    take(ConnectionResponse::decode(message).ok(), connect_reply);
    take(CommandResponse::decode(message).ok(), command_reply);
    take(DisconnectResponse::decode(message).ok(), disconnect_reply);
}

/// Parses an HTTP body, as each kind of reply.
pub fn http_reply(body: &[u8]) {
    take(
        serde_json::from_slice::<ConnectionResponse>(body).ok(),
        connect_reply,
    );
    take(
        serde_json::from_slice::<CommandResponse>(body).ok(),
        command_reply,
    );
    take(
        serde_json::from_slice::<DisconnectResponse>(body).ok(),
        disconnect_reply,
    );
}

/// Translates a parsed reply, and checks that it survives encoding as protobuf.
fn take<R: Reply + Clone + PartialEq + Debug, T>(reply: Option<R>, translate: fn(R) -> Result<T, String>) {
    let Some(reply) = reply else { return };
    let again = R::decode(reply.encode_to_vec().as_slice());
    assert_eq!(again.as_ref(), Ok(&reply));
    let _either = translate(reply);
}
