//! The sub-protocols of Action Cable and AnyCable: an encoding of messages, and the base protocol or its extension
//! (docs/protocols/encodings.md).

use std::fmt;

/// An encoding of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// JSON in text messages.
    #[default]
    Json,
    /// msgpack in binary messages.
    Msgpack,
    /// Protocol buffers in binary messages, with msgpack inside.
    Protobuf,
}

/// A sub-protocol. The default is the base protocol in JSON, which every server of cables speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dialect {
    pub(super) encoding: Encoding,
    /// Whether it is AnyCable's extended protocol: history and resumed sessions (docs/protocols/extended.md).
    pub(super) is_extended: bool,
}

const DIALECTS: [(&str, Dialect); 6] = [
    ("actioncable-v1-json", Dialect::new(Encoding::Json, false)),
    ("actioncable-v1-ext-json", Dialect::new(Encoding::Json, true)),
    ("actioncable-v1-msgpack", Dialect::new(Encoding::Msgpack, false)),
    (
        "actioncable-v1-ext-msgpack",
        Dialect::new(Encoding::Msgpack, true),
    ),
    ("actioncable-v1-protobuf", Dialect::new(Encoding::Protobuf, false)),
    (
        "actioncable-v1-ext-protobuf",
        Dialect::new(Encoding::Protobuf, true),
    ),
];

impl Dialect {
    const fn new(encoding: Encoding, is_extended: bool) -> Self {
        Self {
            encoding,
            is_extended,
        }
    }

    /// The names of all sub-protocols.
    pub fn names() -> [&'static str; 6] {
        DIALECTS.map(|(name, _)| name)
    }

    /// The sub-protocol with this name.
    pub fn named(name: &str) -> Option<Self> {
        DIALECTS
            .iter()
            .find_map(|(known, dialect)| (*known == name).then_some(*dialect))
    }

    /// The name that a handshake has.
    pub fn name(self) -> &'static str {
        let named = DIALECTS.iter().find(|(_, dialect)| *dialect == self);
        named.expect("every combination has a name").0
    }

    /// The base protocol in the same encoding.
    pub(super) fn base(self) -> Self {
        Self::new(self.encoding, false)
    }

    /// The extended protocol in the same encoding.
    pub(super) fn extended(self) -> Self {
        Self::new(self.encoding, true)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "JSON",
            Self::Msgpack => "msgpack",
            Self::Protobuf => "protobuf",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_encoding_and_the_extension() {
        for name in Dialect::names() {
            let dialect = Dialect::named(name).unwrap();
            assert_eq!(dialect.name(), name);
            assert_eq!(dialect.is_extended, name.contains("-ext-"));
            assert!(name.ends_with(&dialect.encoding.to_string().to_lowercase()));
            assert_eq!(dialect.base().extended(), dialect.extended());
        }
        assert_eq!(Dialect::default().name(), "actioncable-v1-json");
        assert_eq!(Dialect::named("actioncable-unsupported"), None);
    }
}
