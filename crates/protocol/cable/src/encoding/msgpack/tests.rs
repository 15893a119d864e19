//! Bytes from the specification of msgpack, byte by byte, and invalid ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(bytes: &[u8]) -> Result<String, MsgpackError> {
    let mut json = String::new();
    value_to_json(bytes, &mut json)?;
    Ok(json)
}

#[track_caller]
fn check(bytes: &[u8], expected: &str) {
    assert_eq!(read(bytes).as_deref(), Ok(expected), "{bytes:02x?}");
}

#[track_caller]
fn refuse(bytes: &[u8], expected: &str) {
    assert_eq!(read(bytes).unwrap_err().to_string(), expected, "{bytes:02x?}");
}

#[test]
fn whole_numbers_have_all_their_digits() {
    check(b"\x00", "0");
    check(b"\x7f", "127");
    check(b"\xff", "-1");
    check(b"\xe0", "-32");
    check(b"\xcc\xff", "255");
    check(b"\xcd\xff\xff", "65535");
    check(b"\xce\xff\xff\xff\xff", "4294967295");
    check(b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615");
    check(b"\xcf\x00\x20\x00\x00\x00\x00\x00\x01", "9007199254740993");
    check(b"\xd0\x80", "-128");
    check(b"\xd1\x80\x00", "-32768");
    check(b"\xd2\x80\x00\x00\x00", "-2147483648");
    check(b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "-9223372036854775808");
    check(b"\xd3\x00\x00\x00\x00\x00\x00\x00\x05", "5");
}

#[test]
fn floats_are_numbers_and_what_is_no_number_is_null() {
    let double = |number: f64| [&b"\xcb"[..], &number.to_be_bytes()].concat();
    let single = |number: f32| [&b"\xca"[..], &number.to_be_bytes()].concat();
    for (number, expected) in [
        (0.1, "0.1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e300, "1e300"),
        (5e-324, "5e-324"),
        (123_456_789.125, "123456789.125"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
        (f64::NEG_INFINITY, "null"),
    ] {
        check(&double(number), expected);
    }
    check(&single(0.5), "0.5");
    check(&single(0.1), "0.10000000149011612");
    check(&single(f32::NAN), "null");
}

#[test]
fn texts_lists_and_maps_of_all_widths() {
    check(b"\xa0", r#""""#);
    check(
        "\u{a6}"
            .repeat(15)
            .as_bytes()
            .iter()
            .fold(vec![0xbe], |mut all, it| {
                all.push(*it);
                all
            })
            .as_slice(),
        &format!("{:?}", "\u{a6}".repeat(15)),
    );
    for head in [
        &b"\xa2"[..],
        b"\xd9\x02",
        b"\xda\x00\x02",
        b"\xdb\x00\x00\x00\x02",
    ] {
        check(&[head, b"a\""].concat(), r#""a\"""#);
    }
    for head in [&b"\x92"[..], b"\xdc\x00\x02", b"\xdd\x00\x00\x00\x02"] {
        check(&[head, b"\xc2\xc3"].concat(), "[false,true]");
    }
    for head in [&b"\x82"[..], b"\xde\x00\x02", b"\xdf\x00\x00\x00\x02"] {
        check(&[head, b"\xa1a\xc0\xff\x90"].concat(), r#"{"a":null,"-1":[]}"#);
    }
    check(b"\x80", "{}");
}

#[test]
fn bytes_extensions_and_times_are_what_the_table_says() {
    for head in [&b"\xc4\x03"[..], b"\xc5\x00\x03", b"\xc6\x00\x00\x00\x03"] {
        check(&[head, b"\x00\xff\x10"].concat(), r#""AP8Q""#);
    }
    check(b"\xd4\x05\x01", r#"{"ext":5,"data":"AQ=="}"#);
    check(b"\xc7\x00\x80", r#"{"ext":-128,"data":""}"#);
    check(b"\xd5\x05\x01\x02", r#"{"ext":5,"data":"AQI="}"#);
    check(b"\xc8\x00\x01\x05\x01", r#"{"ext":5,"data":"AQ=="}"#);
    check(b"\xc9\x00\x00\x00\x01\x05\x01", r#"{"ext":5,"data":"AQ=="}"#);
    check(
        b"\xd8\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
        r#"{"ext":1,"data":"AAAAAAAAAAAAAAAAAAAAAA=="}"#,
    );
    check(b"\xd6\xff\x00\x00\x00\x00", r#""1970-01-01T00:00:00.000Z""#);
    check(
        b"\xd7\xff\x00\x00\x00\x00\x00\x00\x00\x01",
        r#""1970-01-01T00:00:01.000Z""#,
    );
    check(
        b"\xc7\x0c\xff\x00\x0f\x42\x40\x00\x00\x00\x00\x00\x00\x00\x01",
        r#""1970-01-01T00:00:01.001Z""#,
    );
    // Not a timestamp, so an ordinary extension.
    check(b"\xd4\xff\x01", r#"{"ext":-1,"data":"AQ=="}"#);
}

#[test]
fn what_is_cut_off_is_an_error_at_each_place() {
    let message =
        json!({"type": "x", "list": [1, -70_000, 2.5, null, true, {"a": "ü".repeat(200)}], "n": u64::MAX});
    let bytes = from_json(&message.to_string()).unwrap();
    assert!(read(&bytes).is_ok());
    for n_bytes in 0..bytes.len() {
        assert!(
            matches!(read(&bytes[..n_bytes]), Err(MsgpackError::Truncated { .. })),
            "{n_bytes} bytes"
        );
    }
}

#[test]
fn errors_say_where_and_what() {
    refuse(b"", "a value at byte 0 needs 1 B more, but 0 B follow");
    refuse(
        b"\x91\xdb\xff\xff\xff\xff.",
        "a text at byte 1 needs 4294967295 B more, but 1 B follow",
    );
    refuse(
        b"\xdf\xff\xff\xff\xff",
        "a map at byte 0 needs 8589934590 B more, but 0 B follow",
    );
    refuse(
        b"\xdd\xff\xff\xff\xff\x00",
        "a list at byte 0 needs 4294967295 B more, but 1 B follow",
    );
    refuse(
        b"\xc6\xff\xff\xff\xff",
        "bytes at byte 0 needs 4294967295 B more, but 0 B follow",
    );
    refuse(
        b"\xc9\x00\x00\x00\x01\x07",
        "an extension at byte 0 needs 1 B more, but 0 B follow",
    );
    refuse(b"\xa2\xc3\x28", "the text at byte 0 is not UTF-8");
    refuse(
        b"\x92\x01\xc1",
        "no value begins with the byte 0xc1, which is at byte 2",
    );
    refuse(
        b"\x81\xcb\x00",
        "expected a text or a whole number as key of a map at byte 1, got a float",
    );
    refuse(
        b"\x01\x02\x03",
        "expected nothing after the value, which ends at byte 1, got 2 B more",
    );
    for (bytes, kind) in [
        (&b""[..], "nothing"),
        (b"\x00", "a whole number"),
        (b"\xcc\x00", "a whole number"),
        (b"\xff", "a whole number"),
        (b"\x90", "a list"),
        (b"\xdc\x00\x00", "a list"),
        (b"\xa0", "a text"),
        (b"\xd9\x00", "a text"),
        (b"\xc0", "nil"),
        (b"\xc1", "the byte 0xc1"),
        (b"\xc2", "true or false"),
        (b"\xc4\x00", "bytes"),
        (b"\xc7\x00\x00", "an extension"),
        (b"\xd4\x00\x00", "an extension"),
        (b"\xcb\x00", "a float"),
    ] {
        let error = map_to_json(bytes, &mut String::new()).unwrap_err();
        let expected = format!(r#"expected a map such as {{"type":"ping"}}, got {kind}"#);
        assert_eq!(error.to_string(), expected, "{bytes:02x?}");
    }
    for bytes in [&b"\x80"[..], b"\xde\x00\x00", b"\xdf\x00\x00\x00\x00"] {
        let mut json = String::new();
        assert_eq!((map_to_json(bytes, &mut json), json.as_str()), (Ok(()), "{}"));
    }
}

#[test]
fn depth_has_an_end() {
    for head in [&b"\x91"[..], b"\x81\x01"] {
        let deep = |n: usize| [head.repeat(n), b"\x01".to_vec()].concat();
        assert!(read(&deep(128)).is_ok());
        let at = 128 * head.len();
        refuse(
            &deep(129),
            &format!("lists and maps are nested more than 128 deep at byte {at}"),
        );
        refuse(
            &deep(10_000),
            &format!("lists and maps are nested more than 128 deep at byte {at}"),
        );
    }
}

#[track_caller]
fn check_written(json: &str, expected: &[u8]) {
    assert_eq!(from_json(json).unwrap(), expected, "{json}");
}

#[test]
fn json_is_written_in_the_shortest_form() {
    check_written("null", b"\xc0");
    check_written("[true,false]", b"\x92\xc3\xc2");
    check_written("127", b"\x7f");
    check_written("128", b"\xcc\x80");
    check_written("255", b"\xcc\xff");
    check_written("256", b"\xcd\x01\x00");
    check_written("65535", b"\xcd\xff\xff");
    check_written("65536", b"\xce\x00\x01\x00\x00");
    check_written("4294967295", b"\xce\xff\xff\xff\xff");
    check_written("4294967296", b"\xcf\x00\x00\x00\x01\x00\x00\x00\x00");
    check_written("-32", b"\xe0");
    check_written("-33", b"\xd0\xdf");
    check_written("-128", b"\xd0\x80");
    check_written("-129", b"\xd1\xff\x7f");
    check_written("-32768", b"\xd1\x80\x00");
    check_written("-32769", b"\xd2\xff\xff\x7f\xff");
    check_written("-2147483648", b"\xd2\x80\x00\x00\x00");
    check_written("-2147483649", b"\xd3\xff\xff\xff\xff\x7f\xff\xff\xff");
    check_written("1.0", b"\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00");
    check_written(r#"{"a":"ü"}"#, b"\x81\xa1a\xa2\xc3\xbc");
    for (n_bytes, head) in [
        (31, &b"\xbf"[..]),
        (32, b"\xd9\x20"),
        (255, b"\xd9\xff"),
        (256, b"\xda\x01\x00"),
        (65_535, b"\xda\xff\xff"),
        (65_536, b"\xdb\x00\x01\x00\x00"),
    ] {
        let text = "x".repeat(n_bytes);
        check_written(&format!("{text:?}"), &[head, text.as_bytes()].concat());
    }
    for (n, head) in [
        (15, &b"\x9f"[..]),
        (16, b"\xdc\x00\x10"),
        (65_535, b"\xdc\xff\xff"),
        (65_536, b"\xdd\x00\x01\x00\x00"),
    ] {
        let list = vec!["0"; n].join(",");
        check_written(&format!("[{list}]"), &[head, &vec![0; n]].concat());
    }
}

#[test]
fn json_that_is_none_or_too_deep_is_not_written() {
    assert!(from_json("{").is_err());
    assert!(from_json("1 2").is_err());
    assert!(from_json(&"[".repeat(10_000)).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
            proptest::collection::hash_map(".{0,20}", inner, 0..20).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn json_is_the_same_after_msgpack(value in any_json()) {
        let written = from_json(&value.to_string()).unwrap();
        let again: Value = serde_json::from_str(&read(&written).unwrap()).unwrap();
        prop_assert_eq!(again, value);
    }

    #[test]
    fn any_bytes_are_one_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(json) = read(&bytes) {
            prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok(), "{json}");
        }
    }
}
