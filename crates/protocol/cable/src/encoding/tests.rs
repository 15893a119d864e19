//! Requirements on every encoding: commands of clients, and any bytes from a server.

use proptest::prelude::*;

use super::{json_text::push_text, *};
use crate::{
    command::{encode_message, encode_subscribe, encode_unsubscribe},
    reply::Reply,
};

#[test]
fn names_go_both_ways() {
    for encoding in Encoding::ALL {
        assert_eq!(encoding.name().parse(), Ok(encoding));
    }
    let error = "Msgpack".parse::<Encoding>().unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"unknown encoding "Msgpack"; expected json, msgpack or protobuf"#
    );
}

#[test]
fn only_json_travels_in_text_messages() {
    let are_binary = Encoding::ALL.map(Encoding::is_binary);
    assert_eq!(are_binary, [false, true, true]);
    assert_eq!(Encoding::Protobuf.to_string(), "protobuf");
}

#[test]
fn json_is_borrowed() {
    let command = encode_subscribe("i");
    assert!(
        matches!(Encoding::Json.encode_command(&command), Ok(Cow::Borrowed(it)) if it == command.as_bytes())
    );
    let reply = Encoding::Json.reply_json(Content::Text("{}"), false);
    assert!(matches!(reply, Ok(Cow::Borrowed("{}"))));
}

#[test]
fn the_other_kind_of_message_is_an_error_that_says_so() {
    for (encoding, content, expected) in [
        (
            Encoding::Json,
            Content::Binary(b"{}"),
            "expected JSON text, got a binary message",
        ),
        (
            Encoding::Msgpack,
            Content::Text("{}"),
            "expected a binary message in msgpack, got a text message",
        ),
        (
            Encoding::Protobuf,
            Content::Text(""),
            "expected a binary message in protobuf, got a text message",
        ),
    ] {
        let error = encoding.reply_json(content, false).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn errors_say_which_encoding_was_read() {
    let check = |encoding: Encoding, bytes: &[u8], expected: &str| {
        let error = encoding.reply_json(Content::Binary(bytes), false).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(
        Encoding::Msgpack,
        b"\x07",
        r#"read msgpack: expected a map such as {"type":"ping"}, got a whole number"#,
    );
    check(
        Encoding::Protobuf,
        b"\x2a\x01\xc1",
        "read protobuf: the payload, which is msgpack: no value begins with the byte 0xc1, which is at byte 0",
    );
}

#[test]
fn texts_are_escaped_as_json_wants_it() {
    let text = "plain \" \\ \n \r \t \0 \u{1f} \u{7f} / ü 💬";
    let mut json = String::new();
    push_text(&mut json, text);
    assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    // The short forms, if JSON has them.
    assert_eq!(
        json,
        "\"plain \\\" \\\\ \\n \\r \\t \\u0000 \\u001f \u{7f} / ü 💬\""
    );
}

proptest! {
    #[test]
    fn any_bytes_are_json_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for (encoding, is_extended) in [
            (Encoding::Msgpack, false),
            (Encoding::Protobuf, false),
            (Encoding::Protobuf, true),
        ] {
            if let Ok(json) = encoding.reply_json(Content::Binary(&bytes), is_extended) {
                prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok(), "{json}");
                // The extended message has keys for fields of one byte.
                let keys = if is_extended { 100 } else { 2 };
                prop_assert!(json.len() <= 10 * bytes.len() + keys, "{} bytes: {json}", bytes.len());
                let _either = Reply::parse(&json);
            }
        }
    }

    #[test]
    fn msgpack_that_begins_like_a_message_is_json_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let message = [b"\x82\xa4type\xa4ping\xa7message", bytes.as_slice()].concat();
        if let Ok(json) = Encoding::Msgpack.reply_json(Content::Binary(&message), false) {
            prop_assert_eq!(Reply::parse(&json).unwrap(), Reply::Ping);
        }
    }

    #[test]
    fn commands_of_any_text_are_written(identifier in ".{0,300}", data in ".{0,300}") {
        for encoding in Encoding::ALL {
            for command in [
                encode_subscribe(&identifier),
                encode_unsubscribe(&identifier),
                encode_message(&identifier, &data),
            ] {
                prop_assert!(encoding.encode_command(&command).is_ok());
            }
        }
        // The written command is parsed again, with equal keys and values.
        let command = encode_message(&identifier, &data);
        let written = Encoding::Msgpack.encode_command(&command).unwrap();
        let read = Encoding::Msgpack.reply_json(Content::Binary(&written), false).unwrap();
        prop_assert_eq!(
            serde_json::from_str::<serde_json::Value>(&read).unwrap(),
            serde_json::from_str::<serde_json::Value>(&command).unwrap()
        );
    }
}
