//! The identity of a session, as given by the application.

use std::{fmt, rc::Rc};

use plimsoll_hub::SessionId;

use crate::{identities::Entry, shard::Shard};

/// A session's entry in the index, for as long as the session lives.
pub(crate) struct Identity {
    shard: Rc<Shard>,
    entry: Entry,
}

impl Identity {
    /// Registers a session under its identifiers. Returns `None` if they are empty.
    pub(crate) fn register(shard: &Rc<Shard>, id: SessionId, identifiers: &str) -> Option<Box<Self>> {
        if identifiers.is_empty() {
            return None;
        }
        let entry = shard.identities.borrow_mut().add(identifiers, id);
        let shard = Rc::clone(shard);
        Some(Box::new(Self { shard, entry }))
    }

    /// The identifiers.
    pub(crate) fn text(&self) -> &str {
        self.entry.identifiers()
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        self.shard.identities.borrow_mut().remove(&self.entry);
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entry.fmt(f)
    }
}
