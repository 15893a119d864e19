//! The WebSocket sub-protocol of a cable connection.

use crate::encoding::Encoding;

/// The base Action Cable protocol in JSON, the only one that `@rails/actioncable` accepts.
pub const BASE_JSON: &str = "actioncable-v1-json";

/// AnyCable's extended protocol: resumed sessions, history, positions in streams, and answered pings.
pub const EXTENDED_JSON: &str = "actioncable-v1-ext-json";

/// The base protocol in msgpack.
pub const BASE_MSGPACK: &str = "actioncable-v1-msgpack";

/// The extended protocol in msgpack.
pub const EXTENDED_MSGPACK: &str = "actioncable-v1-ext-msgpack";

/// The base protocol in protocol buffers.
pub const BASE_PROTOBUF: &str = "actioncable-v1-protobuf";

/// The extended protocol in protocol buffers, with other messages of the server.
pub const EXTENDED_PROTOBUF: &str = "actioncable-v1-ext-protobuf";

/// The meaning of a sub-protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dialect {
    /// The encoding of messages.
    pub encoding: Encoding,
    /// Whether it is AnyCable's extended protocol.
    pub is_extended: bool,
}

/// All dialects.
const DIALECTS: [(&str, Encoding, bool); 6] = [
    (BASE_JSON, Encoding::Json, false),
    (EXTENDED_JSON, Encoding::Json, true),
    (BASE_MSGPACK, Encoding::Msgpack, false),
    (EXTENDED_MSGPACK, Encoding::Msgpack, true),
    (BASE_PROTOBUF, Encoding::Protobuf, false),
    (EXTENDED_PROTOBUF, Encoding::Protobuf, true),
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

    /// Its name, which clients offer.
    pub fn subprotocol(self) -> &'static str {
        match (self.encoding, self.is_extended) {
            (Encoding::Json, false) => BASE_JSON,
            (Encoding::Json, true) => EXTENDED_JSON,
            (Encoding::Msgpack, false) => BASE_MSGPACK,
            (Encoding::Msgpack, true) => EXTENDED_MSGPACK,
            (Encoding::Protobuf, false) => BASE_PROTOBUF,
            (Encoding::Protobuf, true) => EXTENDED_PROTOBUF,
        }
    }

    /// The names of all dialects.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DIALECTS.into_iter().map(|(name, ..)| name)
    }
}

/// The beginning of a sub-protocol that carries a token and is no protocol (docs/protocols/identification.md, Tokens).
const TOKEN_PREFIX: &str = "anycable-token.";

/// None of the sub-protocols that a client offers is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotServed {
    /// The offers, separated by commas, and shortened.
    pub offered: String,
}

/// Chooses the sub-protocol for the answer: the client's first offer that is served.
///
/// `Ok(None)` means that the client offers none. The answer then has no `Sec-WebSocket-Protocol`, and the connection
/// speaks the base JSON protocol, as with AnyCable: a bare `wscat` works.
///
/// # Errors
/// The client offers only sub-protocols that are not served. It would not understand the server.
pub fn choose<'a>(offered: impl IntoIterator<Item = &'a str>) -> Result<Option<&'static str>, NotServed> {
    const MAX_SHOWN: usize = 200;
    let mut unknown = String::new();
    for offer in offered {
        if let Some(dialect) = Dialect::named(offer) {
            return Ok(Some(dialect.subprotocol()));
        }
        if !offer.starts_with(TOKEN_PREFIX) && unknown.len() < MAX_SHOWN {
            let separator = if unknown.is_empty() { "" } else { ", " };
            unknown.push_str(separator);
            unknown.extend(offer.chars().take(MAX_SHOWN));
        }
    }
    if unknown.is_empty() {
        Ok(None)
    } else {
        Err(NotServed { offered: unknown })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(offered: &[&str], expected: Result<Option<&str>, &str>) {
        let chosen = choose(offered.iter().copied());
        let expected = expected.map_err(|offered| NotServed {
            offered: offered.to_owned(),
        });
        assert_eq!(chosen, expected, "offered {offered:?}");
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
                "actioncable-v1-protobuf",
                "actioncable-v1-ext-protobuf"
            ]
        );
        for name in names {
            let dialect = Dialect::of(Some(name));
            assert_eq!(dialect.subprotocol(), name);
            assert_eq!(name.contains("-ext-"), dialect.is_extended, "{name}");
            assert!(name.ends_with(dialect.encoding.name()), "{name}");
        }
        for agreed in [None, Some("graphql-ws"), Some(BASE_JSON)] {
            assert_eq!(Dialect::of(agreed), Dialect::default());
        }
    }

    #[test]
    fn the_clients_first_offer_that_is_served_counts() {
        check(&[], Ok(None));
        check(&["actioncable-v1-json"], Ok(Some(BASE_JSON)));
        check(&["actioncable-v1-ext-json"], Ok(Some(EXTENDED_JSON)));
        check(
            &["actioncable-v1-json", "actioncable-unsupported"],
            Ok(Some(BASE_JSON)),
        );
        check(
            &["actioncable-v1-ext-json", "actioncable-v1-json"],
            Ok(Some(EXTENDED_JSON)),
        );
        check(&["graphql-ws", "actioncable-v1-json"], Ok(Some(BASE_JSON)));
        check(&["actioncable-v1-ext-protobuf"], Ok(Some(EXTENDED_PROTOBUF)));
    }

    #[test]
    fn a_client_that_offers_only_what_is_not_served_is_told() {
        check(&["graphql-ws"], Err("graphql-ws"));
        check(&["Actioncable-V1-Json"], Err("Actioncable-V1-Json"));
        check(
            &["actioncable-v2-json", "actioncable-v1-cbor"],
            Err("actioncable-v2-json, actioncable-v1-cbor"),
        );
        let long = "x".repeat(300);
        check(&[&long, "y"], Err(&long[..200]));
    }

    /// A secret does not belong in a log, and a token is no protocol.
    #[test]
    fn tokens_are_no_offers() {
        check(&["anycable-token.secret"], Ok(None));
        check(&["graphql-ws", "anycable-token.secret"], Err("graphql-ws"));
        check(&["anycable-token.secret", EXTENDED_JSON], Ok(Some(EXTENDED_JSON)));
    }
}
