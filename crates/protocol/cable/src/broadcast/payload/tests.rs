//! Valid payloads, and the errors for invalid ones.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(body: &str, expected: Result<&[(&str, &str)], &str>) {
    match (parse(body.as_bytes()), expected) {
        (Ok(Broadcast::Publications(list)), Ok(wanted)) => {
            let list: Vec<_> = list
                .iter()
                .map(|p| (p.stream.as_str(), p.message.as_str()))
                .collect();
            assert_eq!(list, wanted, "body {body}");
        }
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "body {body}: {error}"),
        (got, wanted) => panic!("body {body}: got {got:?}, expected {wanted:?}"),
    }
}

#[test]
fn parses_one_and_many() {
    check(r#"{"stream":"a","data":"1"}"#, Ok(&[("a", "1")]));
    check(
        r#" [{"stream":"a","data":"1"},{"data":"{}","stream":"b"}]"#,
        Ok(&[("a", "1"), ("b", "{}")]),
    );
    check("[]", Ok(&[]));
}

#[test]
fn unknown_fields_are_ignored_and_null_is_no_value() {
    check(
        r#"{"stream":"a","data":"1","epoch":"e","offset":7,"x":{"y":[null]}}"#,
        Ok(&[("a", "1")]),
    );
    check(
        r#"{"stream":"a","data":"1","command":null,"meta":null}"#,
        Ok(&[("a", "1")]),
    );
    check(
        r#"{"stream":"a","data":"1","meta":{"x":1,"exclude_socket":null}}"#,
        Ok(&[("a", "1")]),
    );
}

#[test]
fn names_what_is_wrong() {
    check("", Err("expected {\"stream\""));
    check("nonsense", Err("expected {\"stream\""));
    check("{\"stream\":", Err("expected {\"stream\""));
    check(
        r#"{"stream":"a","stream":"b","data":"1"}"#,
        Err("duplicate field"),
    );
    check("{}", Err(r#"message 0: "stream" is missing"#));
    check(r#"{"stream":"a"}"#, Err(r#"message 0: "data" is missing"#));
    check(
        r#"[{"stream":"a","data":"1"},{"data":"1"}]"#,
        Err(r#"message 1: "stream" is missing"#),
    );
    check(
        r#"{"command":"disconnect","payload":{}}"#,
        Err("has no identifier"),
    );
    check(r#"{"command":"disconnect"}"#, Err("has no identifier"));
    check(
        r#"{"command":"disconnect","payload":{"identifier":""}}"#,
        Err("has no identifier"),
    );
    check(r#"{"command":"restart"}"#, Err(r#""restart" is unknown"#));
    check(
        r#"[{"stream":"a","data":"1"},{"command":"disconnect","payload":{"identifier":"i"}}]"#,
        Err("message 1: remote command \"disconnect\" cannot be part of a list"),
    );
}

#[test]
fn names_fields_of_another_type() {
    check("1", Err("message 0: it must be an object"));
    check(
        r#"[["a","1",null,null,null]]"#,
        Err("message 0: it must be an object"),
    );
    check(
        r#"[{"stream":"a","data":"1"},"b"]"#,
        Err("message 1: it must be an object"),
    );
    check(
        r#"{"stream":1,"data":"1"}"#,
        Err(r#""stream" must be a string such as "name", but is 1"#),
    );
    check(
        r#"{"stream":"a","data":{"a":1}}"#,
        Err(r#""data" must be JSON as a string, such as "{\"id\":1}", but is {"a":1}"#),
    );
    check(r#"{"command":7}"#, Err(r#""command" must be the string"#));
    check(
        r#"{"stream":"a","data":"1","meta":"kay"}"#,
        Err(r#""meta" must be an object"#),
    );
    check(
        r#"{"stream":"a","data":"1","meta":{"exclude_socket":1}}"#,
        Err(r#""meta.exclude_socket" must be"#),
    );
    check(
        r#"{"stream":"a","data":"1","meta":{"broadcast_type":[]}}"#,
        Err(r#""meta.broadcast_type" must be"#),
    );
    check(
        r#"{"stream":"a","data":"1","meta":{"transient":"yes"}}"#,
        Err(r#""meta.transient" must be true or false, but is "yes""#),
    );
    check(
        r#"{"command":"disconnect","payload":[]}"#,
        Err(r#""payload" must be an object"#),
    );
    check(
        r#"{"command":"disconnect","payload":{"identifier":{"id":1}}}"#,
        Err(r#""payload.identifier" must be"#),
    );
    check(
        r#"{"command":"disconnect","payload":{"identifier":"i","reconnect":"no"}}"#,
        Err(r#""payload.reconnect" must be"#),
    );
}

#[track_caller]
fn check_options(meta: &str, expected: (Option<&str>, Option<&str>, bool)) {
    let body = format!(r#"{{"stream":"a","data":"1","meta":{meta}}}"#);
    let Ok(Broadcast::Publications(list)) = parse(body.as_bytes()) else {
        panic!("{body} is valid");
    };
    let DeliveryOptions {
        exclude_socket,
        broadcast_type,
        is_transient,
    } = &list[0].options;
    assert_eq!(
        (
            exclude_socket.as_deref(),
            broadcast_type.as_deref(),
            *is_transient
        ),
        expected,
        "{body}"
    );
}

#[test]
fn meta_says_how_a_message_is_delivered() {
    check_options("{}", (None, None, false));
    check_options(r#"{"exclude_socket":"s"}"#, (Some("s"), None, false));
    check_options(
        r#"{"broadcast_type":"presence","transient":true}"#,
        (None, Some("presence"), true),
    );
    check_options(
        r#"{"exclude_socket":"","broadcast_type":"","transient":false}"#,
        (None, None, false),
    );
}

#[test]
fn a_disconnect_names_sessions_and_lets_them_come_back_unless_told_otherwise() {
    for (reconnect, expected) in [
        ("", true),
        (r#","reconnect":true"#, true),
        (r#","reconnect":false"#, false),
    ] {
        let body =
            format!(r#"{{"command":"disconnect","payload":{{"identifier":"{{\"id\":1}}"{reconnect}}}}}"#);
        let wanted = RemoteDisconnect {
            identifiers: r#"{"id":1}"#.to_owned(),
            reconnect: expected,
        };
        assert_eq!(
            parse(body.as_bytes()).unwrap(),
            Broadcast::Disconnect(wanted),
            "{body}"
        );
    }
}

/// Deep enough to overflow the stack of a recursive parser.
const DEPTH: usize = 300_000;

#[test]
fn nesting_is_not_followed() {
    let (open, close) = ("[".repeat(DEPTH), "]".repeat(DEPTH));
    check(&open, Err("expected {\"stream\""));
    check(&format!("{open}{close}"), Err("message 0: it must be an object"));
    check(
        &format!(r#"{{"stream":"a","data":"1","x":{open}{close}}}"#),
        Ok(&[("a", "1")]),
    );
    let nested = format!("{open}{close}");
    check(
        &format!(r#"{{"stream":"a","data":"{nested}"}}"#),
        Ok(&[("a", &nested)]),
    );
    check(
        &format!(r#"{{"stream":"a","data":{nested}}}"#),
        Err(r#""data" must be"#),
    );
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_refused(body in prop::collection::vec(any::<u8>(), 0..64)) {
        drop(parse(&body));
    }

    /// Each field is absent, right or of any other type. The result is an error that names the field, or a publication
    /// with the given values.
    #[test]
    fn any_fields_are_parsed_or_refused(
        stream in value(), data in value(), exclude in value(), kind in value(), transient in value(),
    ) {
        let body = serde_json::json!({
            "stream": stream, "data": data,
            "meta": {"exclude_socket": exclude, "broadcast_type": kind, "transient": transient},
        });
        let is_text = |value: &serde_json::Value| value.is_string() || value.is_null();
        let is_valid = stream.is_string() && data.is_string() && is_text(&exclude) && is_text(&kind)
            && (transient.is_boolean() || transient.is_null());
        match parse(body.to_string().as_bytes()) {
            Ok(Broadcast::Publications(list)) => {
                prop_assert!(is_valid, "{}", body);
                prop_assert_eq!(Some(list[0].stream.as_str()), stream.as_str());
                let excluded = exclude.as_str().filter(|sid| !sid.is_empty());
                prop_assert_eq!(list[0].options.exclude_socket.as_deref(), excluded);
            }
            Ok(other) => prop_assert!(false, "{:?}", other),
            Err(error) => {
                prop_assert!(!is_valid, "{}: {}", body, error);
                prop_assert!(error.to_string().starts_with("message 0: \""), "{}", error);
            }
        }
    }
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        4 => any::<String>().prop_map(Into::into),
        1 => Just(serde_json::Value::Null),
        1 => any::<bool>().prop_map(Into::into),
        1 => any::<i64>().prop_map(Into::into),
        1 => Just(serde_json::json!([1, {"a": null}])),
    ]
}
