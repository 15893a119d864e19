//! The data that a stateless application gets with every call: the client's request, and the state that the application
//! asked the session to keep.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entries::Entries;

/// The key of the peer's address in [`Environment::headers`], as in Rack.
pub const REMOTE_ADDRESS: &str = "REMOTE_ADDR";

/// The key of a subscription's state for its whisper stream (docs/protocols/extended.md, Whispers).
pub(crate) const WHISPER_STREAM: &str = "$w";

/// The key of a subscription's state for its presence stream (docs/protocols/extended.md, Presence).
pub(crate) const PRESENCE_STREAM: &str = "$p";

/// State that an application asked the session to keep, by key. The values are opaque.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State(Entries);

/// Values to set; an empty value removes its key.
pub type StateChanges = BTreeMap<String, String>;

/// The request that opened a session, and the connection's state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The full URL of the request, with its query.
    pub url: String,
    /// The headers for the application, by lower-case name, and [`REMOTE_ADDRESS`].
    pub headers: Entries,
    /// The connection's state.
    pub cstate: State,
}

impl State {
    /// An empty state.
    pub const EMPTY: Self = Self(Entries::EMPTY);

    /// Applies changes: an empty value removes its key, any other value replaces the old one (docs/protocols/rpc.md,
    /// State).
    pub fn merge(&mut self, changes: StateChanges) {
        for (key, value) in changes {
            if value.is_empty() {
                self.0.remove(&key);
            } else {
                self.0.insert(key.into(), value.into());
            }
        }
    }

    /// Whether the state is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries of the state.
    pub fn entries(&self) -> &Entries {
        &self.0
    }
}

impl Environment {
    /// An empty environment.
    pub const EMPTY: Self = Self {
        url: String::new(),
        headers: Entries::EMPTY,
        cstate: State::EMPTY,
    };

    /// The value of one cookie, exactly as in the header.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.headers.get("cookie")?.split(';');
        pairs
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_cookie(cookies: Option<&str>, name: &str, expected: Option<&str>) {
        let environment = Environment {
            headers: cookies.map(|cookies| ("cookie", cookies)).into_iter().collect(),
            ..Environment::default()
        };
        assert_eq!(environment.cookie(name), expected, "{cookies:?}");
    }

    #[test]
    fn finds_every_cookie() {
        check_cookie(None, "uid", None);
        check_cookie(Some("uid=kay/1"), "uid", Some("kay/1"));
        check_cookie(Some("a=1; uid=kay/1;b=2"), "uid", Some("kay/1"));
        check_cookie(Some("a=1; b=x=y=="), "b", Some("x=y=="));
        check_cookie(Some("xuid=1; uid"), "uid", None);
    }

    #[track_caller]
    fn check_merge(before: &[(&str, &str)], changes: &[(&str, &str)], expected: &[(&str, &str)]) {
        let map = |entries: &[(&str, &str)]| -> BTreeMap<_, _> {
            let owned = entries
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            owned.collect()
        };
        let mut state = State(before.iter().copied().collect());
        state.merge(map(changes));
        assert_eq!(state.0, expected.iter().copied().collect());
    }

    #[test]
    fn an_empty_value_deletes_and_any_other_replaces() {
        check_merge(&[], &[], &[]);
        check_merge(&[], &[("a", "1")], &[("a", "1")]);
        check_merge(&[("a", "1"), ("b", "2")], &[], &[("a", "1"), ("b", "2")]);
        check_merge(
            &[("a", "1"), ("b", "2")],
            &[("a", "3")],
            &[("a", "3"), ("b", "2")],
        );
        check_merge(&[("a", "1"), ("b", "2")], &[("a", "")], &[("b", "2")]);
        check_merge(&[("a", "1")], &[("b", "")], &[("a", "1")]);
        check_merge(&[("a", "1")], &[("a", "null")], &[("a", "null")]);
    }
}
