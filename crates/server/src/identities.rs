//! Which sessions of a shard the application gave which identifiers, for remote disconnects.
//!
//! Only identifiers that are not empty are kept: a session of an application without them costs nothing here.

use std::{collections::BTreeSet, fmt, rc::Rc};

use plimsoll_hub::SessionId;

use crate::shard::Shard;

/// An index by identifiers. One flat ordered set: about 36 bytes per session, and nothing degrades when all
/// sessions have the same identifiers, as load tests do.
#[derive(Debug, Default)]
pub(crate) struct Identities(BTreeSet<Entry>);

/// Entries without a session are in front of all with one; they are where a search begins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    identifiers: Rc<str>,
    session: Option<SessionId>,
}

impl Identities {
    /// The sessions with exactly these identifiers.
    pub(crate) fn sessions(&self, identifiers: &str) -> Vec<SessionId> {
        let first = Entry {
            identifiers: identifiers.into(),
            session: None,
        };
        self.0
            .range(first..)
            .take_while(|entry| &*entry.identifiers == identifiers)
            .filter_map(|entry| entry.session)
            .collect()
    }
}

/// A session's entry in the index, for as long as the session lives.
pub(crate) struct Identity {
    shard: Rc<Shard>,
    entry: Entry,
}

impl Identity {
    /// Enters a session under its identifiers; none are no identity.
    pub(crate) fn register(shard: &Rc<Shard>, id: SessionId, identifiers: &str) -> Option<Box<Self>> {
        if identifiers.is_empty() {
            return None;
        }
        let entry = Entry {
            identifiers: identifiers.into(),
            session: Some(id),
        };
        shard.identities.borrow_mut().0.insert(entry.clone());
        let shard = Rc::clone(shard);
        Some(Box::new(Self { shard, entry }))
    }

    /// The identifiers.
    pub(crate) fn text(&self) -> &str {
        &self.entry.identifiers
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        self.shard.identities.borrow_mut().0.remove(&self.entry);
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entry.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_hub::{Format, Hub};

    use super::*;

    #[test]
    fn finds_all_sessions_with_exactly_these_identifiers() {
        let mut hub = Hub::<()>::new(0);
        let mut identities = Identities::default();
        let mut add = |identifiers: &str| {
            let id = hub.insert((), Format(0));
            identities.0.insert(Entry {
                identifiers: identifiers.into(),
                session: Some(id),
            });
            id
        };
        let (first, _longer, second, _other) = (add("a"), add("ab"), add("a"), add("b"));
        assert_eq!(identities.sessions("a"), [first, second]);
        assert_eq!(identities.sessions("aa"), []);
        assert_eq!(identities.sessions(""), []);
    }
}
