//! Tests of the written bytes.

use std::time::{Duration, UNIX_EPOCH};

use plimsoll_cable::subprotocol::{BASE_MSGPACK, BASE_PROTOBUF, EXTENDED_PROTOBUF};

use super::*;

const RUN: Run = Run {
    token: 0xab,
    start_ns: 1_700_000_000_000_000_000,
};
const CHANNEL: &str = r#"{"channel":"BenchmarkChannel"}"#;

fn wire(server_type: ServerType, n_padding_bytes: usize) -> Wire {
    Wire::new(server_type, Dialect::default(), CHANNEL, n_padding_bytes, RUN)
}

fn encoded(server_type: ServerType, command: Command, n_padding_bytes: usize) -> Vec<u8> {
    let now = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789);
    wire(server_type, n_padding_bytes).encode(command, 7, now).1
}

#[test]
fn commands_have_the_documented_bytes() {
    let check = |server_type, command, n_padding_bytes, expected: &str| {
        let text = String::from_utf8(encoded(server_type, command, n_padding_bytes)).unwrap();
        assert_eq!(text, expected);
    };
    check(
        ServerType::Json,
        Command::Broadcast,
        12,
        r#"{"type":"broadcast","payload":{"id":"000000ab.7","sendTime":"1700000000123456789","padding":"123456789012"}}"#,
    );
    check(
        ServerType::ActionCable,
        Command::Echo,
        0,
        concat!(
            r#"{"command":"message","identifier":"{\"channel\":\"BenchmarkChannel\"}","data":"{\"action\":\"echo\","#,
            r#"\"payload\":{\"id\":\"000000ab.7\",\"sendTime\":\"1700000000123456789\"}}"}"#
        ),
    );
    check(
        ServerType::Echo,
        Command::Echo,
        1,
        r#"{"id":"000000ab.7","sendTime":"1700000000123456789","padding":"1"}"#,
    );
}

#[test]
fn commands_in_binary_encodings_are_binary_messages() {
    for (name, head) in [
        (BASE_MSGPACK, &b"\x83\xa7command\xa7message\xaaidentifier"[..]),
        (BASE_PROTOBUF, b"\x10\x03\x1a\x1e{\"channel\":"),
        (EXTENDED_PROTOBUF, b"\x10\x03\x1a\x1e{\"channel\":"),
    ] {
        let dialect = Dialect::of(Some(name));
        let wire = Wire::new(ServerType::ActionCable, dialect, CHANNEL, 3, RUN);
        let (opcode, content) = wire.encode(Command::Echo, 7, UNIX_EPOCH);
        assert_eq!(opcode, Opcode::Binary);
        assert!(content.starts_with(head), "{content:02x?}");
    }
}

#[test]
fn binary_messages_have_the_documented_bytes() {
    let message = encoded(ServerType::Binary, Command::Broadcast, 3);
    assert_eq!(message[..5], [b'b', 0, 0, 0, 11]);
    assert_eq!(message[5..13], 1_700_000_000_000_000_007_i64.to_be_bytes());
    assert_eq!(&message[13..], b"123");
}
