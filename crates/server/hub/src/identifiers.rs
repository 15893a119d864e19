//! Interned subscription identifiers: thousands of sessions share one, and a number compares faster.

use std::{collections::HashMap, rc::Rc};

use slab::Slab;

use crate::{shrink, walk};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct IdentifierId(u32);

/// Interns identifiers and counts their users. The last user's end removes an identifier, so clients cannot make the
/// table grow without limit.
#[derive(Default)]
pub(crate) struct Identifiers {
    entries: Slab<Entry>,
    /// Clients choose the texts, so this map's hashes have a random key (ARCHITECTURE, "Hash tables").
    by_text: HashMap<Rc<str>, IdentifierId>,
}

struct Entry {
    text: Rc<str>,
    n_users: u32,
}

impl Identifiers {
    pub(crate) fn find(&self, text: &str) -> Option<IdentifierId> {
        self.by_text.get(text).copied()
    }

    pub(crate) fn acquire(&mut self, text: &str) -> IdentifierId {
        if let Some(id) = self.find(text) {
            self.entries[id.0 as usize].n_users += 1;
            return id;
        }
        let text: Rc<str> = text.into();
        let index = self.entries.insert(Entry {
            text: Rc::clone(&text),
            n_users: 1,
        });
        let id = IdentifierId(u32::try_from(index).expect("fewer identifiers than bytes of memory / 64"));
        self.by_text.insert(text, id);
        id
    }

    pub(crate) fn release(&mut self, id: IdentifierId) {
        let entry = &mut self.entries[id.0 as usize];
        entry.n_users -= 1;
        if entry.n_users == 0 {
            let entry = self.entries.remove(id.0 as usize);
            self.by_text.remove(&entry.text);
        }
    }

    /// Like [`crate::Hub::visit_identifiers`].
    pub(crate) fn visit(
        &self,
        start: usize,
        max: usize,
        mut visit: impl FnMut(&str, usize),
    ) -> Option<usize> {
        walk::visit(&self.entries, start, max, |entry| {
            visit(&entry.text, entry.n_users as usize);
        })
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity().max(self.by_text.capacity())
    }

    /// Releases the memory that a flood of identifiers took.
    pub(crate) fn shrink(&mut self) {
        shrink::slab(&mut self.entries);
        shrink::map(&mut self.by_text);
    }

    pub(crate) fn text(&self, id: IdentifierId) -> &str {
        &self.entries[id.0 as usize].text
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collisions;

    #[test]
    fn nobody_can_choose_identifiers_that_collide() {
        let texts = collisions::names(r#"{"channel":"ChatChannel","id":"#);
        collisions::check(&texts, Identifiers::default().by_text.hasher());
    }
}
