//! The WebSocket sub-protocol of a cable connection.

use crate::encoding::Encoding;

/// The base Action Cable protocol in JSON, the only one that `@rails/actioncable` accepts.
pub const BASE_JSON: &str = "actioncable-v1-json";

/// AnyCable's extended protocol: resumed sessions, history, positions in streams, and answered pings.
pub const EXTENDED_JSON: &str = "actioncable-v1-ext-json";

/// The base protocol in msgpack. Only AnyCable Pro supports the binary sub-protocols.
pub const BASE_MSGPACK: &str = "actioncable-v1-msgpack";

/// The extended protocol in msgpack.
pub const EXTENDED_MSGPACK: &str = "actioncable-v1-ext-msgpack";

/// The base protocol in protocol buffers. There is also an extended one, with other messages, which this crate does not
/// support.
pub const BASE_PROTOBUF: &str = "actioncable-v1-protobuf";

/// The meaning of a sub-protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dialect {
    /// The encoding of messages.
    pub encoding: Encoding,
    /// Whether it is AnyCable's extended protocol.
    pub is_extended: bool,
}

/// All dialects that clients can offer.
const DIALECTS: [(&str, Encoding, bool); 5] = [
    (BASE_JSON, Encoding::Json, false),
    (EXTENDED_JSON, Encoding::Json, true),
    (BASE_MSGPACK, Encoding::Msgpack, false),
    (EXTENDED_MSGPACK, Encoding::Msgpack, true),
    (BASE_PROTOBUF, Encoding::Protobuf, false),
];

impl Dialect {
    /// The dialect of the sub-protocol that a server has agreed to. Without one, or with one that does not belong to
    /// Action Cable, it is the base protocol in JSON, because servers that ignore sub-protocols speak it.
    pub fn of(agreed: Option<&str>) -> Self {
        agreed.and_then(Self::named).unwrap_or_default()
    }

    /// The dialect with this name.
    pub fn named(name: &str) -> Option<Self> {
        let (_, encoding, is_extended) = DIALECTS.into_iter().find(|(known, ..)| *known == name)?;
        Some(Self {
            encoding,
            is_extended,
        })
    }

    /// The sub-protocol to offer; `None` for the extension in protocol buffers.
    pub fn subprotocol(self) -> Option<&'static str> {
        let mut dialects = DIALECTS.into_iter();
        let it = dialects.find(|(_, encoding, is_extended)| {
            (*encoding, *is_extended) == (self.encoding, self.is_extended)
        });
        it.map(|(name, ..)| name)
    }

    /// The names of all dialects.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DIALECTS.into_iter().map(|(name, ..)| name)
    }
}

/// Chooses the sub-protocol for the answer from the client's offers, in the client's order.
///
/// `None` means that the answer has no `Sec-WebSocket-Protocol`; the connection then speaks the base JSON protocol
/// nevertheless. So neither an empty nor an unsupported offer breaks the upgrade, as with AnyCable: a bare `wscat`
/// works, and a client that insists on its own protocol sees that it was not chosen.
pub fn choose<'a>(offered: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    offered
        .into_iter()
        .any(|name| name == BASE_JSON)
        .then_some(BASE_JSON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(offered: &[&str], expected: Option<&str>) {
        assert_eq!(choose(offered.iter().copied()), expected, "offered {offered:?}");
    }

    #[test]
    fn dialects_have_names() {
        let names: Vec<_> = Dialect::names().collect();
        assert_eq!(
            names,
            [
                "actioncable-v1-json",
                "actioncable-v1-ext-json",
                "actioncable-v1-msgpack",
                "actioncable-v1-ext-msgpack",
                "actioncable-v1-protobuf"
            ]
        );
        for name in names {
            assert_eq!(Dialect::of(Some(name)).subprotocol(), Some(name));
        }
        let protobuf = Dialect {
            encoding: Encoding::Protobuf,
            is_extended: true,
        };
        assert_eq!(protobuf.subprotocol(), None);
        for agreed in [None, Some("graphql-ws"), Some(BASE_JSON)] {
            assert_eq!(Dialect::of(agreed), Dialect::default());
        }
    }

    #[test]
    fn answers_only_what_it_speaks() {
        check(&[], None);
        check(&["graphql-ws"], None);
        check(&["actioncable-v1-json"], Some(BASE_JSON));
        check(
            &["actioncable-v1-json", "actioncable-unsupported"],
            Some(BASE_JSON),
        );
        check(
            &["actioncable-v1-ext-json", "actioncable-v1-json"],
            Some(BASE_JSON),
        );
        check(&["Actioncable-V1-Json"], None);
        check(&["actioncable-v1-msgpack", "actioncable-v1-protobuf"], None);
    }
}
