//! The generated messages, made of `proto/rpc.proto` again: `UPDATE_EXPECT=1 cargo test -p plimsoll-rpc generated`
//! writes the file anew.
//!
//! They are made here and not by the build, because the compilers of protocol buffers are a large part of a first
//! build. Over HTTP the same messages travel as JSON, so they get serde's traits, too.

use expect_test::expect_file;

/// Required in a reply: without it, the text is not a reply.
const STATUSES: [&str; 3] = [
    "ConnectionResponse.status",
    "CommandResponse.status",
    "DisconnectResponse.status",
];

/// Optional in a reply. `null` means the same as a missing field.
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

/// Requests are written without prost ([`request.rs`](src/request.rs)). Tests compare them with these.
const ONLY_IN_TESTS: [&str; 4] = ["ConnectionRequest", "CommandMessage", "DisconnectRequest", "Env"];

#[test]
fn the_generated_messages_are_those_of_the_protocol() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/proto");
    let descriptors = protox::compile(["rpc.proto"], [folder]).unwrap();
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
    let module = prost_build::Module::from_protobuf_package_name("anycable");
    let files = config
        .generate(
            descriptors
                .file
                .into_iter()
                .map(|file| (module.clone(), file))
                .collect(),
        )
        .unwrap();
    expect_file!["../../proto/anycable.inc"].assert_eq(&files[&module]);
}
