//! Writes JSON strings, and entries of objects.

/// Appends `text` as a JSON string.
pub(super) fn push_text(json: &mut String, text: &str) {
    json.push('"');
    let mut rest = text;
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    // The position of a byte. These bytes never occur inside another character.
    while let Some(at) = rest.bytes().position(is_special) {
        let (plain, special) = rest.split_at(at);
        json.push_str(plain);
        let byte = special.as_bytes()[0];
        match byte {
            b'"' => json.push_str("\\\""),
            b'\\' => json.push_str("\\\\"),
            b'\n' => json.push_str("\\n"),
            b'\r' => json.push_str("\\r"),
            b'\t' => json.push_str("\\t"),
            _ => json.push_str(&format!("\\u{byte:04x}")),
        }
        rest = &special[1..];
    }
    json.push_str(rest);
    json.push('"');
}

/// Appends an entry with a text to the object that `json` ends with.
pub(super) fn push_entry(json: &mut String, key: &str, text: &str) {
    push_key(json, key);
    push_text(json, text);
}

/// Appends the key of an entry to the object that `json` ends with; the value follows.
pub(super) fn push_key(json: &mut String, key: &str) {
    if !json.ends_with('{') {
        json.push(',');
    }
    push_text(json, key);
    json.push(':');
}
