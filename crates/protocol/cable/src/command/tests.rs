//! Decoding of commands.

use super::*;

#[track_caller]
fn check(frame: &str, expected: Result<Command<'_>, &str>) {
    let got = Command::parse(frame.as_bytes()).map_err(|e| e.to_string());
    match (got, expected) {
        (Ok(command), Ok(wanted)) => assert_eq!(command, wanted, "frame {frame}"),
        (Err(error), Err(wanted)) => assert!(error.contains(wanted), "frame {frame}: {error}"),
        (got, wanted) => panic!("frame {frame}: got {got:?}, expected {wanted:?}"),
    }
}

#[test]
fn decodes_commands() {
    let identifier = Cow::Borrowed(r#"{"channel":"ChatChannel","id":1}"#);
    check(
        r#"{"command":"subscribe","identifier":"{\"channel\":\"ChatChannel\",\"id\":1}"}"#,
        Ok(Command::Subscribe {
            identifier: identifier.clone(),
            history: None,
            presence: None,
        }),
    );
    check(
        r#"{"identifier":"{\"channel\":\"ChatChannel\",\"id\":1}","command":"unsubscribe","x":[1]}"#,
        Ok(Command::Unsubscribe {
            identifier: identifier.clone(),
        }),
    );
    check(
        r#"{"command":"message","identifier":"{\"channel\":\"ChatChannel\",\"id\":1}","data":"{\"a\":1}"}"#,
        Ok(Command::Message {
            identifier,
            data: r#"{"a":1}"#.into(),
        }),
    );
    check(r#"{"command":"pong"}"#, Ok(Command::Pong));
    check(r#" {"command":"ping"} "#, Ok(Command::Ping));
}

#[test]
fn decodes_extensions() {
    let identifier = Cow::Borrowed("i");
    for (data, expected) in [
        (
            r#"{"b": 1.0,"a":12345678901234567890}"#,
            r#"{"b": 1.0,"a":12345678901234567890}"#,
        ),
        (r#" "text""#, r#""text""#),
        ("[]", "[]"),
        ("false", "false"),
        ("null", r#""null""#),
    ] {
        check(
            &format!(r#"{{"command":"whisper","identifier":"i","data":{data}}}"#),
            Ok(Command::Whisper {
                identifier: identifier.clone(),
                data: expected,
            }),
        );
    }
    check(
        r#"{"command":"whisper","identifier":"i"}"#,
        Ok(Command::Whisper {
            identifier: identifier.clone(),
            data: r#""null""#,
        }),
    );
}

#[track_caller]
fn check_member(presence: &str, expected: Option<(&str, Option<&str>)>) {
    let member = expected.map(|(id, info)| Member {
        id: id.into(),
        info: info.map(Into::into),
    });
    check(
        &format!(r#"{{"command":"subscribe","identifier":"i","presence":{presence}}}"#),
        Ok(Command::Subscribe {
            identifier: "i".into(),
            history: None,
            presence: member.clone(),
        }),
    );
    check(
        &format!(r#"{{"command":"join","identifier":"i","presence":{presence}}}"#),
        member
            .map(|member| Command::Join {
                identifier: "i".into(),
                member,
            })
            .ok_or(r#"command "join" needs "presence" to be an object with the string "id""#),
    );
}

#[test]
fn a_client_joins_with_an_id_and_any_info() {
    check_member(
        r#"{"id":"k\u0061y","info":{"b": 1.0,"a":12345678901234567890}}"#,
        Some(("kay", Some(r#"{"b": 1.0,"a":12345678901234567890}"#))),
    );
    check_member(r#"{"info":[],"id":"7","type":"join"}"#, Some(("7", Some("[]"))));
    check_member(r#"{"id":"7"}"#, Some(("7", None)));
    check_member(r#"{"id":"7","info":null}"#, Some(("7", None)));
    check_member(r#"{"id":"","info":0}"#, Some(("", Some("0"))));
    for presence in ["null", "{}", "7", r#"{"id":7}"#, r#"{"id":null}"#, r#"["7"]"#] {
        check_member(presence, None);
    }
}

#[test]
fn a_client_asks_for_all_members_or_their_number_and_leaves() {
    for (data, wants_records) in [
        ("", true),
        (r#","data":{}"#, true),
        (r#","data":null"#, true),
        (r#","data":{"return_records":1}"#, true),
        (r#","data":{"return_records":true}"#, true),
        (r#","data":{"return_records":false}"#, false),
    ] {
        check(
            &format!(r#"{{"command":"presence","identifier":"i"{data}}}"#),
            Ok(Command::Presence {
                identifier: "i".into(),
                wants_records,
            }),
        );
    }
    check(
        r#"{"command":"leave","identifier":"i"}"#,
        Ok(Command::Leave {
            identifier: "i".into(),
        }),
    );
}

/// `since`, and the streams with offset and epoch.
type Asked<'a> = (Option<i64>, &'a [(&'a str, u64, &'a str)]);

#[track_caller]
fn check_history(history: &str, expected: Option<Asked<'_>>) {
    let expected = expected.map(|(since, streams)| HistoryRequest {
        since,
        streams: streams
            .iter()
            .map(|(name, offset, epoch)| {
                let position = StreamPosition {
                    offset: *offset,
                    epoch: (*epoch).into(),
                };
                ((*name).into(), position)
            })
            .collect(),
    });
    check(
        &format!(r#"{{"command":"subscribe","identifier":"i","history":{history}}}"#),
        Ok(Command::Subscribe {
            identifier: "i".into(),
            history: expected.clone(),
            presence: None,
        }),
    );
    check(
        &format!(r#"{{"command":"history","identifier":"i","history":{history}}}"#),
        Ok(Command::History {
            identifier: "i".into(),
            history: expected,
        }),
    );
}

#[test]
fn history_is_asked_for_from_a_time_or_from_positions() {
    check_history(r#"{"since":1}"#, Some((Some(1), &[])));
    check_history(r#"{"since":-1}"#, None);
    check_history(r#"{"since":1754000000}"#, Some((Some(1_754_000_000), &[])));
    check_history(
        r#"{"streams":{"s":{"offset":2,"epoch":"e\n"},"t":{"epoch":"f","offset":18446744073709551615}}}"#,
        Some((None, &[("s", 2, "e\n"), ("t", u64::MAX, "f")])),
    );
    check_history(r#"{"since":0,"streams":{}}"#, Some((None, &[])));
    for nothing in [
        "null",
        "{}",
        r#"{"since":0}"#,
        r#"{"since":0,"streams":null}"#,
        "1",
        "\"now\"",
        r#"{"streams":1}"#,
    ] {
        check_history(nothing, None);
    }
}

/// No stream has an epoch without a name.
#[test]
fn an_unreadable_position_is_one_that_is_refused() {
    for position in [
        "1",
        "null",
        "{}",
        r#"{"offset":-1,"epoch":"e"}"#,
        r#"{"offset":"1"}"#,
    ] {
        check_history(
            &format!(r#"{{"streams":{{"s":{position}}}}}"#),
            Some((None, &[("s", 0, "")])),
        );
    }
}

#[test]
fn names_what_is_wrong() {
    for frame in [
        "",
        " ",
        r#"{"command":"subscribe""#,
        "[1",
        "nul",
        "subscribe",
        "{}}",
    ] {
        check(frame, Err("the command is not JSON: "));
    }
    for (frame, kind) in [
        ("[]", "a list"),
        (r#"["pong",null,null,null]"#, "a list"),
        (r#" "subscribe""#, "a string"),
        ("-1", "a number"),
        ("true", "a boolean"),
        ("false", "a boolean"),
        ("null", "null"),
    ] {
        check(frame, Err(&format!("the command is {kind}, not a JSON object")));
    }
    for frame in [
        r#"{"command":5}"#,
        r#"{"command":"pong","command":"pong"}"#,
        r#"{"command":"pong","data":1,"data":1}"#,
    ] {
        check(
            frame,
            Err("the command has a duplicate field or a field of a wrong type: "),
        );
    }
    check("{}", Err(r#"unknown command """#));
    check(
        r#"{"command":"dance","identifier":"x"}"#,
        Err(r#"unknown command "dance""#),
    );
    check(r#"{"command":"subscribe"}"#, Err(r#"needs "identifier""#));
    check(
        r#"{"command":"subscribe","identifier":{"channel":"A"}}"#,
        Err(r#"needs "identifier""#),
    );
    check(
        r#"{"command":"message","identifier":"i","data":{"a":1}}"#,
        Err(r#"needs "data" to be a string"#),
    );
    check(r#"{"command":"presence"}"#, Err(r#"needs "identifier""#));
}

#[test]
fn only_a_frame_that_is_not_an_object_of_commands_ends_the_connection() {
    for (frame, fatal) in [
        ("{", true),
        ("[]", true),
        (r#"{"command":5}"#, true),
        ("{}", false),
        (r#"{"command":"message"}"#, false),
    ] {
        let error = Command::parse(frame.as_bytes()).expect_err(frame);
        assert_eq!(error.is_fatal(), fatal, "{frame}");
    }
}
