//! The exact bytes of events, and the events that a client parses from them by the HTML Standard.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::reply::encode_message;

const FOR_ONE: EventStream = EventStream {
    is_whole: false,
    is_raw: false,
};
const FOR_MANY: EventStream = EventStream {
    is_whole: true,
    ..FOR_ONE
};
const RAW: EventStream = EventStream {
    is_raw: true,
    ..FOR_ONE
};

#[track_caller]
fn check(stream: EventStream, messages: &[&str], expected: &Expect) {
    let events: String = messages.iter().map(|message| stream.encode(message)).collect();
    // Makes a blank at the end of a line visible.
    expected.assert_eq(&events.replace(" \n", "␠\n"));
}

const MESSAGES: [&str; 8] = [
    r#"{"type":"welcome","sid":"s1"}"#,
    r#"{"type":"confirm_subscription","identifier":"i"}"#,
    r#"{"type":"ping","message":1700000000}"#,
    r#"{"identifier":"i","message":{"b":1, "a":[12345678901234567890,"<&>"]}}"#,
    r#"{"identifier":"i","message":"<b>\r\n two\rthree\nfour\n"}"#,
    r#"{"identifier":"i","message":""}"#,
    r#"{"type":"disconnect","reason":"server_restart","reconnect":true}"#,
    r#"{"type":"disconnect","reason":"remote","reconnect":false}"#,
];

#[test]
fn one_subscription_gets_what_the_application_said() {
    check(
        FOR_ONE,
        &MESSAGES,
        &expect![[r#"
            event: welcome
            data: {"type":"welcome","sid":"s1"}

            event: confirm_subscription
            data: {"type":"confirm_subscription","identifier":"i"}

            event: ping
            data: {"type":"ping","message":1700000000}

            data: {"b":1, "a":[12345678901234567890,"<&>"]}

            data: <b>
            data:  two
            data: three
            data: four
            data:␠

            data:␠

            event: disconnect
            data: {"type":"disconnect","reason":"server_restart","reconnect":true}

            event: disconnect
            data: {"type":"disconnect","reason":"remote","reconnect":false}
            retry: 2147483647

        "#]],
    );
}

#[test]
fn several_subscriptions_get_whole_messages() {
    check(
        FOR_MANY,
        &MESSAGES[3..],
        &expect![[r#"
            data: {"identifier":"i","message":{"b":1, "a":[12345678901234567890,"<&>"]}}

            data: {"identifier":"i","message":"<b>\r\n two\rthree\nfour\n"}

            data: {"identifier":"i","message":""}

            event: disconnect
            data: {"type":"disconnect","reason":"server_restart","reconnect":true}

            event: disconnect
            data: {"type":"disconnect","reason":"remote","reconnect":false}
            retry: 2147483647

        "#]],
    );
}

#[test]
fn a_raw_stream_has_no_events_but_the_applications() {
    check(
        RAW,
        &MESSAGES,
        &expect![[r#"
            : welcome

            : confirm_subscription

            : ping

            data: {"b":1, "a":[12345678901234567890,"<&>"]}

            data: <b>
            data:  two
            data: three
            data: four
            data:␠

            data:␠

            : disconnect

            : disconnect
            retry: 2147483647

        "#]],
    );
}

#[test]
fn what_an_application_transmits_can_neither_forge_nor_break_events() {
    check(
        FOR_ONE,
        &[
            r#"{"type":"a\ndata: forged","message":1}"#,
            "{\"identifier\":\"i\",\n\"message\":{\n\"a\":1}}",
            r#"{"type":"","message":"untyped"}"#,
            r#"{"no":"message"}"#,
            "no JSON\n\nevent: forged",
            "",
        ],
        &expect![[r#"
            event: a data: forged
            data: {"type":"a\ndata: forged","message":1}

            data: {
            data: "a":1}

            data: untyped

            data: {"no":"message"}

            data: no JSON
            data:␠
            data: event: forged

            data:␠

        "#]],
    );
    check(
        RAW,
        &["{\"type\":\"a\\n\\ndata: forged\"}"],
        &expect![[r#"
            : a  data: forged

        "#]],
    );
}

/// An event that a client dispatches: type and data.
type Event = (String, String);

/// The parser of HTML Standard §9.2.6, for whole streams without `id` fields.
fn read(stream: &str) -> Vec<Event> {
    let stream = stream.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut kind, mut data) = (String::new(), String::new());
    for line in stream.split_terminator('\n') {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => {
                let (kind, mut data) = (std::mem::take(&mut kind), std::mem::take(&mut data));
                if data.pop().is_some() {
                    events.push((kind, data));
                }
            }
            "event" => value.clone_into(&mut kind),
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            _ => {}
        }
    }
    events
}

fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Text with many characters that could break a line.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            Just("\n".to_owned()),
            Just("\r".to_owned()),
            Just("\r\n".to_owned()),
            Just("data: ".to_owned()),
            Just(":".to_owned()),
            Just(" ".to_owned()),
            any::<String>(),
        ],
        0..8,
    )
    .prop_map(|parts| parts.concat())
}

/// JSON text of every shape, with any white space that JSON allows between its tokens.
fn json_text() -> impl Strategy<Value = (Value, String)> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<u64>().prop_map(Value::from),
        text().prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    (value, prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("")]).prop_map(|(value, line_end)| {
        let pretty = serde_json::to_string_pretty(&value).expect("values serialise");
        let written = pretty.replace('\n', line_end);
        (value, written)
    })
}

#[test]
fn a_comment_is_one_line_with_its_text() {
    for (text, expected) in [
        ("binary", ": binary\n\n"),
        ("", ": \n\n"),
        ("two\nlines\r", ": two lines \n\n"),
    ] {
        assert_eq!(comment(text), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn a_string_arrives_with_its_characters(message in text()) {
        let message_json = json!(message).to_string();
        let event = FOR_ONE.encode(&encode_message("i", &message_json));
        prop_assert_eq!(read(&event), [(String::new(), with_line_feeds(&message))]);
    }

    #[test]
    fn any_json_arrives_as_one_event_with_the_same_value((value, written) in json_text()) {
        let envelope = encode_message("i", &written);
        let events = [FOR_ONE.encode(&envelope), FOR_MANY.encode(&envelope), RAW.encode(&envelope)];
        let [one, many, raw] = events.map(|event| read(&event));
        prop_assert_eq!(&one, &raw);
        let whole: Value = serde_json::from_str(&many[0].1).expect("still JSON");
        prop_assert_eq!((many.len(), whole), (1, json!({"identifier": "i", "message": value})));
        match value {
            Value::String(text) => prop_assert_eq!(&one[0].1, &with_line_feeds(&text)),
            value => prop_assert_eq!(serde_json::from_str::<Value>(&one[0].1).ok(), Some(value)),
        }
        prop_assert_eq!(one.len(), 1);
    }

    #[test]
    fn one_message_is_at_most_one_event(message in text(), is_whole: bool, is_raw: bool) {
        let stream = EventStream { is_whole, is_raw };
        prop_assert!(read(&stream.encode(&message)).len() <= 1);
        let typed = json!({"type": message, "message": message}).to_string();
        let n_expected = usize::from(!is_raw || message.is_empty());
        prop_assert_eq!(read(&stream.encode(&typed)).len(), n_expected);
        prop_assert_eq!(read(&comment(&message)), []);
    }
}
