//! Server messages: their exact bytes, and parsing them again.

use super::*;

#[track_caller]
fn check(encoded: &str, bytes: &str, decoded: &Reply<'_>) {
    assert_eq!(encoded, bytes);
    assert_eq!(Reply::parse(encoded).as_ref().ok(), Some(decoded), "{encoded}");
}

#[test]
fn extensions_have_these_bytes() {
    assert_eq!(
        encode_typed_message("whisper", r#"{"channel":"C"}"#, r#"{"b": 1.0}"#),
        r#"{"type":"whisper","identifier":"{\"channel\":\"C\"}","message":{"b": 1.0}}"#
    );
    assert_eq!(
        encode_typed_message("\"", "i", "1"),
        r#"{"type":"\"","identifier":"i","message":1}"#
    );
    assert_eq!(
        encode_reject_history("i"),
        r#"{"type":"reject_history","identifier":"i"}"#
    );
    assert_eq!(
        encode_presence("i", &presence::left("7")),
        r#"{"type":"presence","identifier":"i","message":{"type":"leave","id":"7"}}"#
    );
}

#[test]
fn a_kept_message_has_its_position() {
    let position = Position {
        stream: "chat \"1\"".into(),
        epoch: "x7Qf".into(),
        offset: 12,
    };
    assert_eq!(
        encode_kept_message(None, "i", r#"{"b": 1.0}"#, &position),
        r#"{"identifier":"i","message":{"b": 1.0},"stream_id":"chat \"1\"","epoch":"x7Qf","offset":12}"#
    );
    assert_eq!(
        encode_kept_message(Some("t"), "i", "1", &position),
        r#"{"type":"t","identifier":"i","message":1,"stream_id":"chat \"1\"","epoch":"x7Qf","offset":12}"#
    );
    assert_eq!(
        encode_confirm_history("i"),
        r#"{"type":"confirm_history","identifier":"i"}"#
    );
}

#[test]
fn a_resumed_session_is_told_its_subscriptions() {
    assert_eq!(
        encode_restored("new", [r#"{"a":1}"#, "b"]),
        r#"{"type":"welcome","sid":"new","restored":true,"restored_ids":["{\"a\":1}","b"]}"#
    );
    assert_eq!(
        encode_restored("new", []),
        r#"{"type":"welcome","sid":"new","restored":true}"#
    );
}

#[test]
fn encodes_exactly_these_bytes() {
    check(
        &encode_welcome("V1StGXR8_Z5jdHi6B-myT"),
        r#"{"type":"welcome","sid":"V1StGXR8_Z5jdHi6B-myT"}"#,
        &Reply::Welcome {
            sid: Some("V1StGXR8_Z5jdHi6B-myT".into()),
            restored: None,
        },
    );
    check(
        &encode_ping(1_700_000_000),
        r#"{"type":"ping","message":1700000000}"#,
        &Reply::Ping,
    );
    check(&encode_pong(), r#"{"type":"pong"}"#, &Reply::Pong);
    check(
        &encode_confirm(r#"{"channel":"C"}"#),
        r#"{"type":"confirm_subscription","identifier":"{\"channel\":\"C\"}"}"#,
        &Reply::Confirm {
            identifier: r#"{"channel":"C"}"#.into(),
        },
    );
    check(
        &encode_reject("no such"),
        r#"{"type":"reject_subscription","identifier":"no such"}"#,
        &Reply::Reject {
            identifier: "no such".into(),
        },
    );
    check(
        &encode_disconnect(DisconnectReason::ServerRestart, true),
        r#"{"type":"disconnect","reason":"server_restart","reconnect":true}"#,
        &Reply::Disconnect {
            reason: "server_restart".into(),
            reconnect: true,
        },
    );
    check(
        &encode_disconnect(
            DisconnectReason::Unauthorized,
            DisconnectReason::Unauthorized.reconnect(),
        ),
        r#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#,
        &Reply::Disconnect {
            reason: "unauthorized".into(),
            reconnect: false,
        },
    );
}

#[test]
fn the_applications_json_keeps_its_bytes() {
    let message = r#"{"b": 12345678901234567890, "a":"<&>é","b2":1.10}"#;
    check(
        &encode_message("i", message),
        r#"{"identifier":"i","message":{"b": 12345678901234567890, "a":"<&>é","b2":1.10}}"#,
        &Reply::Message {
            identifier: "i".into(),
            message,
            position: None,
        },
    );
}

#[test]
fn names_what_is_wrong_in_a_server_message() {
    for (frame, part) in [
        ("nonsense", "decode server message"),
        (r#"{"type":"confirm_subscription"}"#, r#"no "identifier""#),
        (r#"{"identifier":"i"}"#, r#"no "message""#),
        (r#"{"type":"confirm_history"}"#, r#"no "identifier""#),
        (r#"{"type":"reject_history"}"#, r#"no "identifier""#),
        (r#"{"type":"reject_subscription"}"#, r#"no "identifier""#),
        (
            r#"{"type":"presence","identifier":"i"}"#,
            r#""presence" has no "message""#,
        ),
        (r#"{"type":"dance","message":1}"#, "unknown message type"),
        (r#"{"type":"dance","identifier":"i"}"#, "unknown message type"),
    ] {
        let error = Reply::parse(frame).expect_err(frame).to_string();
        assert!(error.contains(part), "{frame}: {error}");
    }
}

#[test]
fn a_disconnect_without_words_lets_the_client_come_back() {
    assert_eq!(
        Reply::parse(r#"{"type":"disconnect"}"#).ok(),
        Some(Reply::Disconnect {
            reason: "".into(),
            reconnect: true
        })
    );
}

/// A position that lacks a part cannot be used to continue a history.
#[test]
fn a_position_has_three_parts() {
    for fields in [
        r#""stream_id":"s","epoch":"e""#,
        r#""stream_id":"s","offset":7"#,
        r#""epoch":"e","offset":7"#,
    ] {
        let frame = format!(r#"{{"identifier":"i","message":1,{fields}}}"#);
        let reply = Reply::parse(&frame).unwrap();
        assert!(matches!(reply, Reply::Message { position: None, .. }), "{frame}");
    }
}

#[test]
fn a_plain_action_cable_welcome_has_no_sid() {
    assert_eq!(
        Reply::parse(r#"{"type":"welcome"}"#).ok(),
        Some(Reply::Welcome {
            sid: None,
            restored: None
        })
    );
}

#[test]
fn clients_understand_the_extended_protocol() {
    #[track_caller]
    fn check(frame: &str, expected: &Reply<'_>) {
        assert_eq!(&Reply::parse(frame).unwrap(), expected, "{frame}");
    }
    check(
        r#"{"type":"welcome","sid":"new","restored":true,"restored_ids":["a","b"]}"#,
        &Reply::Welcome {
            sid: Some("new".into()),
            restored: Some(vec!["a".into(), "b".into()]),
        },
    );
    check(
        r#"{"identifier":"i","message":null,"stream_id":"s","epoch":"e","offset":7}"#,
        &Reply::Message {
            identifier: "i".into(),
            message: "null",
            position: Some(Position {
                stream: "s".into(),
                epoch: "e".into(),
                offset: 7,
            }),
        },
    );
    check(
        r#"{"type":"confirm_history","identifier":"i"}"#,
        &Reply::ConfirmHistory {
            identifier: "i".into(),
        },
    );
    check(
        r#"{"type":"reject_history","identifier":"i"}"#,
        &Reply::RejectHistory {
            identifier: "i".into(),
        },
    );
    check(
        r#"{"type":"presence","identifier":"i","message":{"type":"join","id":"7"}}"#,
        &Reply::Presence {
            identifier: "i".into(),
            message: r#"{"type":"join","id":"7"}"#,
        },
    );
    check(
        r#"{"type":"whisper","identifier":"i","message":1}"#,
        &Reply::Message {
            identifier: "i".into(),
            message: "1",
            position: None,
        },
    );
}
