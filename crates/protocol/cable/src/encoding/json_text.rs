//! Writes JSON strings.

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
