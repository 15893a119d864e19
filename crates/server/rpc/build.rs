//! Generates the messages of `proto/rpc.proto` with compilers in Rust, so that nobody needs to install `protoc`.
//!
//! Over HTTP the same messages travel as JSON, so they get serde's traits, too.

use std::error::Error;

/// Must be there in a reply: without it, whatever was sent is no reply.
const STATUSES: [&str; 3] = [
    "ConnectionResponse.status",
    "CommandResponse.status",
    "DisconnectResponse.status",
];

/// May be left out of a reply, or be `null`, which says the same.
const OPTIONAL: [&str; 19] = [
    "ConnectionResponse.identifiers",
    "ConnectionResponse.transmissions",
    "ConnectionResponse.error_msg",
    "ConnectionResponse.env",
    "CommandResponse.disconnect",
    "CommandResponse.stop_streams",
    "CommandResponse.streams",
    "CommandResponse.transmissions",
    "CommandResponse.error_msg",
    "CommandResponse.env",
    "CommandResponse.stopped_streams",
    "CommandResponse.presence",
    "DisconnectResponse.error_msg",
    "EnvResponse.cstate",
    "EnvResponse.istate",
    "PresenceResponse.type",
    "PresenceResponse.id",
    "PresenceResponse.info",
    "PresenceResponse.ttl",
];

/// What is sent is written without prost ([`request.rs`](src/request.rs)), which is compared with these in tests.
const ONLY_IN_TESTS: [&str; 4] = ["ConnectionRequest", "CommandMessage", "DisconnectRequest", "Env"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto/rpc.proto");
    let descriptors = protox::compile(["proto/rpc.proto"], ["proto"])?;
    let mut config = prost_build::Config::new();
    config
        .btree_map(["."])
        .message_attribute(".", "#[cfg_attr(test, derive(serde::Serialize))]");
    for request in ONLY_IN_TESTS {
        config.message_attribute(request, "#[cfg(test)]");
    }
    for reply in [
        "ConnectionResponse",
        "CommandResponse",
        "DisconnectResponse",
        "EnvResponse",
        "PresenceResponse",
    ] {
        config.message_attribute(reply, "#[derive(serde::Deserialize)]");
    }
    for field in STATUSES {
        config.field_attribute(
            field,
            "#[serde(deserialize_with = \"crate::proto::json::status\")]",
        );
    }
    for field in OPTIONAL {
        config.field_attribute(
            field,
            "#[serde(default, deserialize_with = \"crate::proto::json::or_default\")]",
        );
    }
    config.compile_fds(descriptors)?;
    Ok(())
}
