//! Encodes channels and actions of scripts as the text that is sent.
//!
//! A subscription's identifier is compared as text: by the server, by other clients of the same cache, and in an
//! application's logs. So a channel with parameters must give exactly the bytes that k6's cable extension writes: keys
//! in alphabetical order on every level, no spaces, `<`, `>`, `&` and two line separators escaped, and numbers as in
//! the script.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::value::RawValue;

/// The deepest nesting of parameters and data: enough for any real ones, and safe on a small stack.
pub const MAX_DEPTH: usize = 32;

/// Why parameters or an action's data cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Not a JSON object.
    #[error("expected a JSON object such as {{\"id\":1}}: {0}")]
    NotAnObject(#[from] serde_json::Error),
    /// Arrays and objects are nested too deeply.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// The identifier of a subscription to `channel`. `params` is the text of a JSON object; its parameter `channel` is
/// replaced.
///
/// # Errors
/// `params` is not an object, or is nested too deeply.
pub fn encode_identifier(channel: &str, params: &str) -> Result<String, EncodeError> {
    encode_with("channel", channel, params)
}

/// The data of `perform`: the fields of `data` and the action's name. `data` is the text of a JSON object; its field
/// `action` is replaced.
///
/// # Errors
/// As for [`encode_identifier`].
pub fn encode_action(action: &str, data: &str) -> Result<String, EncodeError> {
    encode_with("action", action, data)
}

type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

fn encode_with(key: &str, value: &str, object: &str) -> Result<String, EncodeError> {
    let mut fields: Fields<'_> = serde_json::from_str(object)?;
    let value = serde_json::value::to_raw_value(value)?;
    fields.insert(Cow::Borrowed(key), &value);
    let mut out = String::with_capacity(object.len() + key.len() + value.get().len() + 4);
    write_object(&fields, 1, &mut out)?;
    Ok(out)
}

fn write_value(json: &str, depth: usize, out: &mut String) -> Result<(), EncodeError> {
    if depth > MAX_DEPTH {
        return Err(EncodeError::TooDeep);
    }
    match json.as_bytes().first() {
        Some(b'{') => write_object(&serde_json::from_str(json)?, depth + 1, out),
        Some(b'[') => write_array(&serde_json::from_str::<Vec<&RawValue>>(json)?, depth + 1, out),
        Some(b'"') => {
            write_string(&serde_json::from_str::<String>(json)?, out);
            Ok(())
        }
        _ => {
            out.push_str(json);
            Ok(())
        }
    }
}

fn write_object(fields: &Fields<'_>, depth: usize, out: &mut String) -> Result<(), EncodeError> {
    for (n, (key, value)) in fields.iter().enumerate() {
        out.push(if n == 0 { '{' } else { ',' });
        write_string(key, out);
        out.push(':');
        write_value(value.get(), depth, out)?;
    }
    out.push_str(if fields.is_empty() { "{}" } else { "}" });
    Ok(())
}

fn write_array(items: &[&RawValue], depth: usize, out: &mut String) -> Result<(), EncodeError> {
    out.push('[');
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_value(item.get(), depth, out)?;
    }
    out.push(']');
    Ok(())
}

/// Writes a string with the escapes of Go's JSON encoder, which are safe in HTML.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut n_written = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !MAY_NEED_ESCAPE[usize::from(byte)] {
            continue;
        }
        // Every byte with the mark begins a character.
        let Some(character) = text[at..].chars().next() else {
            continue;
        };
        if byte == FIRST_OF_SEPARATORS && !matches!(character, '\u{2028}' | '\u{2029}') {
            continue;
        }
        out.push_str(&text[n_written..at]);
        write_escaped(character, out);
        n_written = at + character.len_utf8();
    }
    out.push_str(&text[n_written..]);
    out.push('"');
}

/// The first byte of the two line separators, and of many other characters.
const FIRST_OF_SEPARATORS: u8 = 0xe2;

/// Whether a byte of UTF-8 is, or may be the first byte of, a character that is escaped.
const MAY_NEED_ESCAPE: [bool; 256] = {
    let mut marks = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        marks[byte] = true;
        byte += 1;
    }
    let others = [b'"', b'\\', b'<', b'>', b'&', FIRST_OF_SEPARATORS];
    let mut i = 0;
    while i < others.len() {
        marks[others[i] as usize] = true;
        i += 1;
    }
    marks
};

fn write_escaped(character: char, out: &mut String) {
    use std::fmt::Write;

    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        _ => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(params: &str, expected: &str) {
        assert_eq!(encode_identifier("C", params).unwrap(), expected, "{params}");
    }

    #[test]
    fn keys_are_sorted_on_every_level_and_the_channel_wins() {
        check("{}", r#"{"channel":"C"}"#);
        check(r#"{"id":"demo"}"#, r#"{"channel":"C","id":"demo"}"#);
        check(
            r#"{ "id" : 1, "a":[ 2, {"z":1,"y":{}} ] }"#,
            r#"{"a":[2,{"y":{},"z":1}],"channel":"C","id":1}"#,
        );
        check(r#"{"channel":"X"}"#, r#"{"channel":"C"}"#);
        check(r#"{"a":1,"a":2}"#, r#"{"a":2,"channel":"C"}"#);
        assert_eq!(
            encode_action("speak", r#"{"message":"hi","action":"x"}"#).unwrap(),
            r#"{"action":"speak","message":"hi"}"#
        );
    }

    #[test]
    fn text_is_escaped_as_gos_encoder_does_and_numbers_stay() {
        check(
            r#"{"a":"<b>&\u003c/é\n\u0001\u2028\"\\"}"#,
            r#"{"a":"\u003cb\u003e\u0026\u003c/é\n\u0001\u2028\"\\","channel":"C"}"#,
        );
        check(
            r#"{"a":1e+21,"b":-0.5,"c":null}"#,
            r#"{"a":1e+21,"b":-0.5,"c":null,"channel":"C"}"#,
        );
    }

    #[test]
    fn control_characters_have_their_short_forms() {
        check(
            r#"{"a":"\b\f\n\r\t\u0000\u001f\u2029 \u007f"}"#,
            &format!(
                r#"{{"a":"\b\f\n\r\t\u0000\u001f\u2029 {}","channel":"C"}}"#,
                '\u{7f}'
            ),
        );
    }

    #[test]
    fn depth_has_an_end() {
        for (n_lists, is_written) in [(31, true), (32, false)] {
            let lists = format!("{}1{}", "[".repeat(n_lists), "]".repeat(n_lists));
            let objects = format!("{}1{}", r#"{"b":"#.repeat(n_lists), "}".repeat(n_lists));
            for deep in [lists, objects] {
                let params = format!(r#"{{"a":{deep}}}"#);
                assert_eq!(encode_identifier("C", &params).is_ok(), is_written, "{params}");
            }
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for (params, part) in [
            ("[]", "expected a JSON object"),
            ("null", "expected a JSON object"),
            ("{", "expected a JSON object"),
            (&deep, "nested deeper than 32 levels"),
        ] {
            let error = encode_identifier("C", params).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest! {
        #[test]
        fn it_means_what_was_given(key in "[^a-z]*", text in ".*", number in -1_000_000_000_i64..1_000_000_000) {
            let params = serde_json::json!({ &*key: [text, { "n": number }] });
            let encoded = encode_identifier("C", &params.to_string()).unwrap();
            let mut expected = params;
            expected["channel"] = "C".into();
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&encoded).unwrap(), expected);
        }
    }
}
