//! Reads header fields: case-insensitive names, comma lists over several lines (RFC 9110 §5).

use httparse::Header;

/// The values of all lines with this name, in order, as text. A line that is not UTF-8 is omitted: no field of the
/// handshake may contain such bytes.
pub(super) fn values<'a>(headers: &[Header<'a>], name: &str) -> impl Iterator<Item = &'a str> {
    headers
        .iter()
        .filter(move |header| header.name.eq_ignore_ascii_case(name))
        .filter_map(|header| std::str::from_utf8(header.value).ok())
        .map(str::trim)
}

/// The elements of a comma list, over all lines with this name.
pub(super) fn list<'a>(headers: &[Header<'a>], name: &str) -> impl Iterator<Item = &'a str> {
    values(headers, name)
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|element| !element.is_empty())
}

/// Whether a comma list has this token, in any case.
pub(super) fn has_token(headers: &[Header<'_>], name: &str, token: &str) -> bool {
    list(headers, name).any(|element| element.eq_ignore_ascii_case(token))
}

/// Whether the text is a token (RFC 9110 §5.6.2), which sub-protocols and header names must be.
pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether the text is valid as a field value on one line (RFC 9110 §5.5).
pub(super) fn is_value(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte == b'\t' || byte >= b' ' && byte != 0x7F)
}

/// Appends `name: value` and the line end.
pub(super) fn push(head: &mut String, name: &str, value: &str) {
    head.extend([name, ": ", value, "\r\n"]);
}
