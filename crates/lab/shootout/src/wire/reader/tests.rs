//! Tests of the recognised messages, and that the fast path agrees with the slow one.

use std::time::SystemTime;

use plimsoll_cable::{
    encoding::Encoding,
    subprotocol::{BASE_JSON, BASE_MSGPACK, BASE_PROTOBUF, EXTENDED_PROTOBUF},
};
use proptest::prelude::*;

use super::*;
use crate::wire::{Command, Run};

const RUN: Run = Run {
    token: 0xab,
    start_ns: 1_700_000_000_000_000_000,
};
const CHANNEL: &str = r#"{"channel":"BenchmarkChannel"}"#;

fn reader(server_type: ServerType) -> Reader {
    Reader::new(Arc::new(Wire::new(
        server_type,
        Dialect::default(),
        CHANNEL,
        3,
        RUN,
    )))
}

#[test]
fn binary_messages_are_recognised() {
    let mut reader = reader(ServerType::Binary);
    let message = reader.wire.encode(Command::Broadcast, 7, SystemTime::now()).1;
    assert_eq!(reader.binary(&message), Inbound::Ours(Kind::Broadcast, 7));
    let mut result = message.clone();
    result[0] = b'r';
    assert_eq!(reader.binary(&result), Inbound::Ours(Kind::BroadcastResult, 7));
    let mut older_run = message.clone();
    older_run[5] = 0;
    for bad in [&older_run[..], &message[..12], b"x", b""] {
        assert_eq!(reader.binary(bad), Inbound::Foreign, "{bad:?}");
    }
}

#[test]
fn texts_are_recognised_whatever_the_order_of_fields() {
    let check = |server_type, frame: &str, expected: Inbound| {
        let mut reader = reader(server_type);
        assert_eq!(reader.text(frame), expected, "first: {frame}");
        assert_eq!(reader.text(frame), expected, "second: {frame}");
    };
    let (broadcast, result) = (
        Inbound::Ours(Kind::Broadcast, 12),
        Inbound::Ours(Kind::BroadcastResult, 12),
    );
    let json = ServerType::Json;
    check(
        json,
        r#"{"type":"broadcast","payload":{"id":"000000ab.12","sendTime":"1"}}"#,
        broadcast.clone(),
    );
    check(
        json,
        r#"{"payload":{"id":"000000ab.12","sendTime":"1"},"type":"broadcastResult"}"#,
        result.clone(),
    );
    check(
        json,
        r#"{"listenerCount":3,"payload":{"sendTime":"1","id":"000000ab.12"},"type":"broadcast"}"#,
        broadcast.clone(),
    );
    check(
        json,
        r#"{"type":"broadc\u0061st","payload":{"id":"000000ab.12"}}"#,
        broadcast.clone(),
    );
    check(
        json,
        r#"{"type":"broadcast","payload":{"id":"000000ac.12"}}"#,
        Inbound::Foreign,
    );
    check(
        json,
        r#"{"type":"broadcast","payload":{"id":"000000ab.12x"}}"#,
        Inbound::Foreign,
    );
    check(
        json,
        r#"{"type":"other","payload":{"id":"000000ab.12"}}"#,
        Inbound::Foreign,
    );
    check(json, r#"{"type":"broadcast"}"#, Inbound::Foreign);
    check(json, "hello", Inbound::Foreign);

    let cable = ServerType::ActionCable;
    let of =
        |rest: &str| format!(r#"{{"identifier":"{{\"channel\":\"BenchmarkChannel\"}}","message":{rest}}}"#);
    check(
        cable,
        &of(r#"{"action":"broadcast","payload":{"id":"000000ab.12"}}"#),
        broadcast,
    );
    check(
        cable,
        &of(r#"{"payload":{"id":"000000ab.12"},"action":"broadcastResult"}"#),
        result,
    );
    check(
        cable,
        r#"{"identifier":"other","message":{"action":"echo","payload":{"id":"000000ab.12"}}}"#,
        Inbound::Foreign,
    );
    check(cable, r#"{"type":"ping","message":1}"#, Inbound::Chatter);
    check(
        cable,
        r#"{"type":"disconnect","reason":"too_slow","reconnect":true}"#,
        Inbound::Goodbye("too_slow".into()),
    );

    check(
        ServerType::Echo,
        r#"{"id":"000000ab.12","sendTime":"1"}"#,
        Inbound::Ours(Kind::Echo, 12),
    );
    check(
        ServerType::Echo,
        "Welcome to simple echo server",
        Inbound::Foreign,
    );
}

#[test]
fn binary_encodings_are_read_as_the_json_that_they_stand_for() {
    let of = |kind: &str| {
        format!(
            r#"{{"identifier":"{{\"channel\":\"BenchmarkChannel\"}}","message":{{"action":"{kind}","payload":{{"id":"000000ab.12"}}}}}}"#
        )
    };
    let reader = |name| {
        Reader::new(Arc::new(Wire::new(
            ServerType::ActionCable,
            Dialect::of(Some(name)),
            CHANNEL,
            3,
            RUN,
        )))
    };
    let mut msgpack = reader(BASE_MSGPACK);
    for (json, expected) in [
        (of("broadcast"), Inbound::Ours(Kind::Broadcast, 12)),
        (of("broadcast"), Inbound::Ours(Kind::Broadcast, 12)),
        (of("broadcastResult"), Inbound::Ours(Kind::BroadcastResult, 12)),
        (r#"{"type":"ping","message":1}"#.to_owned(), Inbound::Chatter),
        (
            r#"{"type":"disconnect","reason":"remote"}"#.to_owned(),
            Inbound::Goodbye("remote".into()),
        ),
        ("7".to_owned(), Inbound::Foreign),
    ] {
        let message = Encoding::Msgpack.encode_command(&json).unwrap();
        assert_eq!(msgpack.binary(&message), expected, "{json}");
    }
    assert_eq!(msgpack.shapes.len(), 2);
    // A text message belongs to another sender, even if its JSON looks like ours.
    assert_eq!(msgpack.text(&of("broadcast")), Inbound::Foreign);
    assert_eq!(reader(BASE_JSON).binary(b"\x80"), Inbound::Foreign);
    for (name, goodbye) in [
        (BASE_PROTOBUF, b"\x08\x02\x32\x06remote"),
        (EXTENDED_PROTOBUF, b"\x08\x02\x22\x06remote"),
    ] {
        let mut protobuf = reader(name);
        assert_eq!(protobuf.binary(b"\x08\x03"), Inbound::Chatter);
        assert_eq!(protobuf.binary(goodbye), Inbound::Goodbye("remote".into()));
    }
}

#[test]
fn a_kind_behind_the_payload_is_told_apart() {
    let mut reader = reader(ServerType::Json);
    let frame = |kind: &str, id: u64| format!(r#"{{"payload":{{"id":"000000ab.{id}"}},"type":"{kind}"}}"#);
    for id in [1, 2, 10] {
        assert_eq!(
            reader.text(&frame("broadcast", id)),
            Inbound::Ours(Kind::Broadcast, id)
        );
        assert_eq!(
            reader.text(&frame("broadcastResult", id)),
            Inbound::Ours(Kind::BroadcastResult, id)
        );
    }
    assert_eq!(reader.shapes.len(), 2);
}

#[test]
fn learning_is_bounded() {
    let mut reader = reader(ServerType::Json);
    for n in 0..100 {
        let frame = format!(r#"{{"n":{n},"type":"broadcast","payload":{{"id":"000000ab.{n}"}}}}"#);
        assert_eq!(reader.text(&frame), Inbound::Ours(Kind::Broadcast, n));
    }
    assert_eq!(reader.shapes.len(), 8);
}

proptest! {
    /// A reader that has learned from one message reads any other text as a fresh reader does.
    #[test]
    fn the_short_way_agrees_with_the_long_one(id in 0_u64..2000, cut in 0_usize..90, extra in "[0-9a-z\"}{.,:]{0,4}") {
        let good = format!(r#"{{"type":"broadcast","payload":{{"id":"000000ab.{id}","sendTime":"1700000000"}}}}"#);
        let mut frame = good.clone();
        if let Some(at) = (cut < good.len()).then_some(cut) {
            frame.insert_str(at, &extra);
        }
        let mut learned = reader(ServerType::Json);
        learned.text(&good);
        let fresh = reader(ServerType::Json).text(&frame);
        // The short way does not look behind the number: it may accept what the long way rejects, never misread.
        let short = learned.text(&frame);
        prop_assert!(short == fresh || fresh == Inbound::Foreign, "{} {:?} {:?}", frame, short, fresh);
    }
}
