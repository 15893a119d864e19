//! Which WebSocket sub-protocol a cable connection speaks.

/// The base Action Cable protocol in JSON, the only one that `@rails/actioncable` accepts.
pub const BASE_JSON: &str = "actioncable-v1-json";

/// AnyCable's extension of it: sessions that resume, history, positions in streams, and answered pings.
pub const EXTENDED_JSON: &str = "actioncable-v1-ext-json";

/// Chooses the sub-protocol to answer with from those that the client offered, in its order.
///
/// `None` means that the answer carries no `Sec-WebSocket-Protocol`; the connection then speaks the base
/// JSON protocol all the same. So neither an empty nor an unsupported offer breaks the upgrade, as with
/// AnyCable: a bare `wscat` works, and a client that insists on its own protocol sees that it was not chosen.
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
    }
}
