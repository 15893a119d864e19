//! What follows a head: how long the body is, and whether the connection lives on (RFC 9112 §6.3, §9.3).

use super::{HttpError, Protocol};

/// The framing of a body, as given by the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Framing {
    pub(super) body: Body,
    /// Whether the connection can be used for another request after this response.
    pub(super) is_persistent: bool,
}

/// Where a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// There is none.
    None,
    /// Ends after this many bytes.
    Length(u64),
    /// Ends with the last chunk.
    Chunked,
    /// With the connection.
    UntilEnd,
}

impl Framing {
    /// The framing of a final response.
    pub(super) fn of(
        protocol: Protocol,
        status: u16,
        fields: &[httparse::Header<'_>],
        is_answer_to_head: bool,
    ) -> Result<Self, HttpError> {
        let is_persistent = match protocol {
            Protocol::Http10 => lists(fields, "connection", "keep-alive"),
            _ => !lists(fields, "connection", "close"),
        };
        let body = if is_answer_to_head || matches!(status, 204 | 304) {
            Body::None
        } else if protocol != Protocol::Http10 && is_chunked(fields)? {
            Body::Chunked
        } else {
            content_length(fields)?.map_or(Body::UntilEnd, Body::Length)
        };
        Ok(Self {
            body,
            is_persistent: is_persistent && body != Body::UntilEnd,
        })
    }
}

fn values<'a>(fields: &'a [httparse::Header<'_>], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let found = fields
        .iter()
        .filter(|field| field.name.eq_ignore_ascii_case(name));
    found.map(|field| field.value)
}

/// Whether a field that is a list (RFC 9110 §5.6.1) has this member.
fn lists(fields: &[httparse::Header<'_>], name: &str, member: &str) -> bool {
    values(fields, name).any(|value| {
        let mut members = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        members.any(|other| other.eq_ignore_ascii_case(member.as_bytes()))
    })
}

/// Whether the body is chunked. Any other transfer coding would have to be decoded, and none was requested (RFC 9112
/// §7.4). HTTP/1.0 has none.
fn is_chunked(fields: &[httparse::Header<'_>]) -> Result<bool, HttpError> {
    let mut codings = values(fields, "transfer-encoding");
    match (codings.next(), codings.next()) {
        (None, _) => Ok(false),
        (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(true),
        _ => Err(HttpError::Malformed(
            "a transfer coding that is not chunked alone",
        )),
    }
}

/// The length. All `Content-Length` fields must be equal (RFC 9112 §6.3, number 5).
fn content_length(fields: &[httparse::Header<'_>]) -> Result<Option<u64>, HttpError> {
    let mut length = None;
    for value in values(fields, "content-length") {
        let digits = value.iter().all(u8::is_ascii_digit);
        let text = std::str::from_utf8(value).ok().filter(|_| digits);
        let number = text.and_then(|text| text.parse::<u64>().ok());
        let number = number.ok_or(HttpError::Malformed("a bad Content-Length"))?;
        if length.is_some_and(|other| other != number) {
            return Err(HttpError::Malformed("two different Content-Length fields"));
        }
        length = Some(number);
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(fields: &[(&str, &str)]) -> Result<Framing, String> {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| httparse::Header {
                name,
                value: value.as_bytes(),
            })
            .collect();
        Framing::of(Protocol::Http11, 200, &fields, false).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_are_searched_member_by_member() {
        let check = |value: &str, is_persistent: bool| {
            let found = framing(&[("Content-Length", "1"), ("Connection", value)]);
            assert_eq!(found.map(|it| it.is_persistent), Ok(is_persistent), "{value}");
        };
        check("x , Close", false);
        check("close", false);
        check("keep-alive", true);
        check("closed", true);
    }

    #[test]
    fn fields_that_disagree_are_refused() {
        let two = framing(&[("content-length", "1"), ("CONTENT-LENGTH", "2")]);
        assert!(two.is_err_and(|error| error.contains("two different")));
        let same = framing(&[("content-length", "1"), ("content-length", "1")]);
        assert_eq!(same.map(|it| it.body), Ok(Body::Length(1)));
        assert!(framing(&[("transfer-encoding", "gzip")]).is_err());
    }
}
