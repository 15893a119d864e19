//! The sessions of a shard by the identifiers that the application gave them, for remote disconnects.
//!
//! Empty identifiers are not kept, so a session of an application without identifiers costs nothing here.

use std::{collections::BTreeSet, ops::Bound, rc::Rc};

use plimsoll_hub::SessionId;

/// An index by identifiers. It is one flat ordered set: about 36 bytes per session, and it does not degrade when all
/// sessions have the same identifiers, as in load tests.
#[derive(Debug, Default)]
pub(crate) struct Identities(BTreeSet<Entry>);

/// An entry. Entries without a session sort before those with one, so a search starts at them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    identifiers: Rc<str>,
    session: Option<SessionId>,
}

impl Entry {
    /// The identifiers of the session.
    pub(crate) fn identifiers(&self) -> &str {
        &self.identifiers
    }

    /// The session and its identifiers.
    pub(crate) fn session(&self) -> Option<(SessionId, Rc<str>)> {
        Some((self.session?, Rc::clone(&self.identifiers)))
    }
}

impl Identities {
    /// Adds a session. The returned entry removes it again.
    pub(crate) fn add(&mut self, identifiers: &str, session: SessionId) -> Entry {
        let entry = Entry {
            identifiers: identifiers.into(),
            session: Some(session),
        };
        self.0.insert(entry.clone());
        entry
    }

    /// Removes a session.
    pub(crate) fn remove(&mut self, entry: &Entry) {
        self.0.remove(entry);
    }

    #[cfg(test)]
    pub(crate) fn of(sessions: impl IntoIterator<Item = (String, SessionId)>) -> Self {
        let entry = |(identifiers, id): (String, SessionId)| Entry {
            identifiers: identifiers.into(),
            session: Some(id),
        };
        Self(sessions.into_iter().map(entry).collect())
    }

    /// The sessions whose identifiers are exactly these.
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

    /// Up to `max` entries after `last` (`None`: from the start).
    pub(crate) fn after(&self, last: Option<&Entry>, max: usize) -> Vec<Entry> {
        let start = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.0
            .range((start, Bound::Unbounded))
            .take(max)
            .cloned()
            .collect()
    }

    /// Visits up to `max` entries after `last` (`None`: from the start) and calls `visit` once for each distinct
    /// identifiers. Returns the last visited entry, or `None` at the end.
    pub(crate) fn visit(
        &self,
        last: Option<&Entry>,
        max: usize,
        mut visit: impl FnMut(&str),
    ) -> Option<Entry> {
        let start = last.map_or(Bound::Unbounded, Bound::Excluded);
        let mut last = last;
        let mut n_visited = 0;
        for entry in self.0.range((start, Bound::Unbounded)).take(max) {
            if last.is_none_or(|last| last.identifiers != entry.identifiers) {
                visit(&entry.identifiers);
            }
            last = Some(entry);
            n_visited += 1;
        }
        last.filter(|_| n_visited == max).cloned()
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_hub::{Budget, Format, Hub};

    use super::*;

    #[test]
    fn finds_all_sessions_with_exactly_these_identifiers() {
        let mut hub = Hub::<()>::new(0, Budget::new(0));
        let mut identities = Identities::default();
        let mut add = |identifiers: &str| {
            let id = hub.insert((), Format(0));
            identities.add(identifiers, id);
            id
        };
        let (first, _longer, second, _other) = (add("a"), add("ab"), add("a"), add("b"));
        assert_eq!(identities.sessions("a"), [first, second]);
        assert_eq!(identities.sessions("aa"), []);
        assert_eq!(identities.sessions(""), []);
    }

    #[test]
    fn a_walk_visits_each_identifiers_once_whatever_the_steps() {
        let mut hub = Hub::<()>::new(0, Budget::new(0));
        let mut identities = Identities::default();
        for identifiers in ["a", "b", "b", "b", "c", "d", "d"] {
            identities.add(identifiers, hub.insert((), Format(0)));
        }
        for step in 1..=8 {
            let mut visited = Vec::new();
            let mut last = identities.visit(None, step, |text| visited.push(text.to_owned()));
            while last.is_some() {
                last = identities.visit(last.as_ref(), step, |text| visited.push(text.to_owned()));
            }
            assert_eq!(visited, ["a", "b", "c", "d"], "steps of {step}");
        }
    }
}
