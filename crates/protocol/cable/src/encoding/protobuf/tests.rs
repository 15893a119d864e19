//! Messages byte by byte. `tests/foreign` compares them with `protobufjs`.

use super::*;
use crate::command::{encode_message, encode_subscribe, encode_unsubscribe};

fn read(message: &[u8]) -> Result<String, ProtobufError> {
    let mut json = String::new();
    reply(message, false, &mut json)?;
    Ok(json)
}

#[track_caller]
fn check(message: &[u8], expected: &str) {
    assert_eq!(read(message).as_deref(), Ok(expected), "{message:02x?}");
}

#[track_caller]
fn refuse(message: &[u8], expected: &str) {
    assert_eq!(read(message).unwrap_err().to_string(), expected, "{message:02x?}");
}

#[test]
fn commands_have_the_documented_fields() {
    assert_eq!(
        encode_command(&encode_subscribe("id")).unwrap(),
        b"\x10\x01\x1a\x02id"
    );
    assert_eq!(encode_command(&encode_unsubscribe("")).unwrap(), b"\x10\x02");
    assert_eq!(
        encode_command(&encode_message("i\"", "{}")).unwrap(),
        b"\x10\x03\x1a\x02i\"\x22\x02{}"
    );
    for (n_bytes, head) in [(127, &b"\x10\x01\x1a\x7f"[..]), (128, b"\x10\x01\x1a\x80\x01")] {
        let text = "x".repeat(n_bytes);
        let expected = [head, text.as_bytes()].concat();
        assert_eq!(encode_command(&encode_subscribe(&text)).unwrap(), expected);
    }
    let long = "x".repeat(300);
    let message = encode_command(&encode_subscribe(&long)).unwrap();
    assert_eq!(&message[..5], b"\x10\x01\x1a\xac\x02");
    assert_eq!(message.len(), 305);
}

#[test]
fn only_whole_commands_are_written() {
    for (json, expected) in [
        (
            r#"{"command":"message","identifier":"i"}"#,
            r#"protobuf cannot carry this command: command "message" needs "data" to be "#,
        ),
        (
            r#"{"command":"dance"}"#,
            r#"protobuf cannot carry this command: unknown command "dance"; use msgpack or json"#,
        ),
        (
            "[]",
            "protobuf cannot carry this command: the command is a list, not a JSON object; use msgpack or json",
        ),
        ("{", "write the command in a binary encoding: "),
        (r#"{"command":5}"#, "write the command in a binary encoding: "),
    ] {
        let error = encode_command(json).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn the_extended_message_has_positions_and_resumed_sessions() {
    for (message, expected) in [
        (&b"\x08\x01\x4a\x01s"[..], r#"{"type":"welcome","sid":"s"}"#),
        (
            b"\x08\x01\x4a\x01s\x50\x01",
            r#"{"type":"welcome","sid":"s","restored":true,"restored_ids":[]}"#,
        ),
        (
            b"\x08\x01\x4a\x01s\x50\x01\x5a\x01a\x5a\x02\"b",
            r#"{"type":"welcome","sid":"s","restored":true,"restored_ids":["a","\"b"]}"#,
        ),
        (
            b"\x12\x01i\x1a\x01\x05\x32\x01s\x3a\x01e\x40\x07",
            r#"{"identifier":"i","message":5,"stream_id":"s","epoch":"e","offset":7}"#,
        ),
        (
            b"\x08\x06\x12\x01i",
            r#"{"type":"confirm_history","identifier":"i"}"#,
        ),
        (
            b"\x08\x02\x22\x06remote\x28\x01",
            r#"{"type":"disconnect","reason":"remote","reconnect":true}"#,
        ),
    ] {
        let mut json = String::new();
        reply(message, true, &mut json).unwrap();
        assert_eq!(json, expected, "{message:02x?}");
    }
}

#[test]
fn replies_become_the_json_that_they_stand_for() {
    check(b"\x08\x01", r#"{"type":"welcome"}"#);
    check(
        b"\x08\x02\x32\x0cunauthorized",
        r#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#,
    );
    check(
        b"\x08\x02\x32\x06remote\x38\x01",
        r#"{"type":"disconnect","reason":"remote","reconnect":true}"#,
    );
    check(
        b"\x08\x03\x2a\x05\xce\x6a\x00\x00\x00",
        r#"{"type":"ping","message":1778384896}"#,
    );
    check(
        b"\x08\x04\x1a\x01i",
        r#"{"type":"confirm_subscription","identifier":"i"}"#,
    );
    check(
        b"\x08\x05\x1a\x02\"i",
        r#"{"type":"reject_subscription","identifier":"\"i"}"#,
    );
    check(
        b"\x1a\x01i\x2a\x04\x81\xa1a\x01",
        r#"{"identifier":"i","message":{"a":1}}"#,
    );
    check(
        b"\x08\x00\x1a\x01i\x2a\x01\xc0",
        r#"{"identifier":"i","message":null}"#,
    );
    check(b"", "{}");
    check(b"\x08\x09", r#"{"type":"number 9"}"#);
}

#[test]
fn the_last_of_equal_fields_counts_and_unknown_ones_are_passed_over() {
    check(b"\x08\x01\x08\x03", r#"{"type":"ping"}"#);
    let unknown = b"\x48\x96\x01\x51\x00\x00\x00\x00\x00\x00\x00\x00\x5a\x02hi\x65\x00\x00\x00\x00\xf8\xff\xff\xff\x0f\x01\x08\x01";
    check(unknown, r#"{"type":"welcome"}"#);
}

#[test]
fn errors_say_which_field_and_what() {
    let check = |message: &[u8], expected: &str| {
        refuse(message, &format!("failed to decode Protobuf message: {expected}"));
    };
    check(b"\x08", "ServerMessage.kind: invalid varint");
    check(
        b"\x1a\xff\xff\xff\xff\x0fid",
        "ServerMessage.identifier: buffer underflow",
    );
    check(b"\x08\x01\x65\x00", "buffer underflow");
    for too_large in [
        &b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"[..],
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ] {
        check(too_large, "ServerMessage.kind: invalid varint");
    }
    check(
        b"\x0b",
        "ServerMessage.kind: invalid wire type: StartGroup (expected Varint)",
    );
    check(b"\x0f", "invalid wire type value: 7");
    check(b"\x00\x00", "invalid tag value: 0");
    check(
        b"\x0a\x00",
        "ServerMessage.kind: invalid wire type: LengthDelimited (expected Varint)",
    );
    check(
        b"\x18\x00",
        "ServerMessage.identifier: invalid wire type: Varint (expected LengthDelimited)",
    );
    check(
        b"\x08\x01\x32\x01\xff",
        "ServerMessage.reason: invalid string value: data is not UTF-8 encoded",
    );
    refuse(
        b"\x2a\x02\xa5x",
        "the payload, which is msgpack: a text at byte 0 needs 5 B more, but 1 B follow",
    );
}

#[test]
fn unknown_groups_are_skipped_up_to_a_depth() {
    let groups = |depth: usize| [b"\x4b".repeat(depth), b"\x4c".repeat(depth), b"\x08\x01".to_vec()].concat();
    check(&groups(50), r#"{"type":"welcome"}"#);
    assert!(read(&groups(10_000)).is_err());
}

#[test]
fn the_largest_number_is_one() {
    check(
        b"\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08\x02",
        r#"{"type":"disconnect","reconnect":true}"#,
    );
}

#[test]
fn what_is_cut_off_inside_of_a_field_is_an_error() {
    let message = b"\x08\x04\x1a\x02id\x2a\x04\x81\xa1a\x01";
    let whole = [0, 2, 6, 12];
    for n_bytes in 0..=message.len() {
        assert_eq!(
            read(&message[..n_bytes]).is_ok(),
            whole.contains(&n_bytes),
            "{n_bytes} bytes"
        );
    }
}
