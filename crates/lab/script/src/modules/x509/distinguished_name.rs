//! The names of the subject and the issuer of a certificate (RFC 5280, 4.1.2.4).

use x509_cert::{
    attr::AttributeTypeAndValue,
    der::{Tag, Tagged as _},
};

pub(super) const COMMON_NAME: &str = "2.5.4.3";
pub(super) const COUNTRY: &str = "2.5.4.6";
pub(super) const LOCALITY: &str = "2.5.4.7";
pub(super) const STATE_OR_PROVINCE: &str = "2.5.4.8";
pub(super) const STREET_ADDRESS: &str = "2.5.4.9";
pub(super) const ORGANIZATION: &str = "2.5.4.10";
pub(super) const ORGANIZATIONAL_UNIT: &str = "2.5.4.11";
pub(super) const POSTAL_CODE: &str = "2.5.4.17";

/// A name: object identifiers with their values, in the order of the certificate.
pub(super) struct Name {
    pub(super) parts: Vec<(String, String)>,
}

impl Name {
    pub(super) fn of(name: &x509_cert::name::Name) -> Self {
        let part = |part: &AttributeTypeAndValue| (part.oid.to_string(), text(part));
        Self {
            parts: name.iter().map(part).collect(),
        }
    }

    /// The values of this kind.
    pub(super) fn all(&self, kind: &str) -> impl Iterator<Item = &str> {
        let of_kind = self.parts.iter().filter(move |(known, _)| known == kind);
        of_kind.map(|(_, value)| value.as_str())
    }

    /// The first value of this kind; an empty text without any.
    pub(super) fn first(&self, kind: &str) -> &str {
        self.all(kind).next().unwrap_or_default()
    }

    /// The last value of this kind; an empty text without any.
    pub(super) fn last(&self, kind: &str) -> &str {
        self.all(kind).last().unwrap_or_default()
    }
}

/// The text of a value. All encodings but one are ASCII or UTF-8 in the certificates of today.
fn text(part: &AttributeTypeAndValue) -> String {
    let bytes = part.value.value();
    if part.value.tag() == Tag::BmpString {
        let (pairs, _) = bytes.as_chunks::<2>();
        let units: Vec<_> = pairs.iter().map(|&pair| u16::from_be_bytes(pair)).collect();
        return String::from_utf16_lossy(&units);
    }
    String::from_utf8_lossy(bytes).into_owned()
}
