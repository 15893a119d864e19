//! The caller's and the server's own header fields.

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use http::{HeaderMap, HeaderName, HeaderValue};
use plimsoll_grpc::Code;

use super::Status;

/// Values of fields with this suffix are bytes.
const BINARY_SUFFIX: &str = "-bin";

/// Fields of gRPC itself.
const RESERVED: [&str; 8] = [
    "content-type",
    "user-agent",
    "grpc-message-type",
    "grpc-encoding",
    "grpc-message",
    "grpc-status",
    "grpc-timeout",
    "te",
];

/// Base64 without padding, which may nevertheless be there.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Fields with their values, in their order. A name can occur several times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata(Vec<(String, Vec<u8>)>);

impl Metadata {
    /// Adds a field. Values of names that end in `-bin` are any bytes, other values printable ASCII.
    pub fn add(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        self.0.push((name.to_ascii_lowercase(), value.into()));
    }

    /// All fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// Adds the fields to a head, without those of gRPC itself.
    ///
    /// # Errors
    /// A field cannot be sent.
    pub(super) fn write(&self, fields: &mut HeaderMap) -> Result<(), Status> {
        for (name, value) in self.iter() {
            let is_text = value.iter().all(|byte| (b' '..=b'~').contains(byte));
            let refused = |text: String| Status::new(Code::Internal, text);
            if name.is_empty() {
                return Err(refused("there is an empty key in the header".to_owned()));
            }
            let is_pseudo = name.starts_with(':');
            let is_valid =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
            if !is_pseudo && !name.bytes().all(is_valid) {
                let text = format!("header key {name:?} contains illegal characters not in [0-9a-z-_.]");
                return Err(refused(text));
            }
            let is_binary = name.ends_with(BINARY_SUFFIX);
            if !is_binary && !is_text {
                let text = format!("header key {name:?} contains value with non-printable ASCII characters");
                return Err(refused(text));
            }
            if is_pseudo || RESERVED.contains(&name) {
                continue;
            }
            let value = if is_binary {
                HeaderValue::try_from(BASE64.encode(value))
            } else {
                HeaderValue::from_bytes(value)
            };
            let unusable = |_| refused(format!("header key {name:?} cannot be sent"));
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable(()))?;
            fields.append(name, value.map_err(|_| unusable(()))?);
        }
        Ok(())
    }

    /// The fields of a head or of trailers, without those of gRPC itself but the type of the content.
    pub(super) fn read(fields: &HeaderMap) -> Self {
        let own = fields.iter().filter(|(name, _)| {
            let name = name.as_str();
            name == "content-type" || !RESERVED.contains(&name)
        });
        let decoded = own.filter_map(|(name, value)| {
            let value = value.as_bytes();
            let value = if name.as_str().ends_with(BINARY_SUFFIX) {
                decode(value)?
            } else {
                value.to_vec()
            };
            Some((name.as_str().to_owned(), value))
        });
        Self(decoded.collect())
    }
}

/// The bytes of a binary field; `None` if it is not base64.
pub(super) fn decode(value: &[u8]) -> Option<Vec<u8>> {
    BASE64.decode(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fields: &[(&str, &[u8])], expected: Result<&[(&str, &str)], &str>) {
        let mut metadata = Metadata::default();
        for (name, value) in fields {
            metadata.add(name, *value);
        }
        let mut written = HeaderMap::new();
        let found = metadata.write(&mut written).map_err(|status| status.message);
        let pairs: Vec<_> = written
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        assert_eq!(found.as_ref().map(|()| &*pairs).map_err(String::as_str), expected);
    }

    #[test]
    fn fields_are_checked_and_written() {
        check(
            &[
                ("X-One", b"1"),
                ("a-bin", &[1, 2, 255]),
                ("te", b"x"),
                (":path", b"/"),
                ("x-one", b"2"),
            ],
            Ok(&[("x-one", "1"), ("x-one", "2"), ("a-bin", "AQL/")]),
        );
        check(
            &[("a b", b"")],
            Err("header key \"a b\" contains illegal characters not in [0-9a-z-_.]"),
        );
        check(
            &[("a", "ü".as_bytes())],
            Err("header key \"a\" contains value with non-printable ASCII characters"),
        );
        check(&[("", b"")], Err("there is an empty key in the header"));
    }

    #[test]
    fn fields_are_read_without_those_of_the_protocol() {
        let mut fields = HeaderMap::new();
        for (name, value) in [
            ("content-type", "application/grpc"),
            ("grpc-status", "0"),
            ("x-bin", "AQI="),
            ("y-bin", "AQI"),
            ("z-bin", "*"),
            ("x", "1"),
        ] {
            fields.append(name, value.parse().unwrap());
        }
        let metadata = Metadata::read(&fields);
        let found: Vec<_> = metadata.iter().collect();
        assert_eq!(
            found,
            [
                ("content-type", &b"application/grpc"[..]),
                ("x-bin", &[1, 2]),
                ("y-bin", &[1, 2]),
                ("x", b"1"),
            ]
        );
    }
}
