//! The members at all servers of a cluster, as far as this server hears their streams.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use plimsoll_broker::presence::{Change, Event, Mirror};

use crate::{
    engine::EngineError,
    presence_store::{PresenceStore, Present},
};

/// What this server and the store of all servers know of each other.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<dyn PresenceStore>,
    /// By stream. Backends and clients choose the names, so this map's hashes have a random key (ARCHITECTURE, "Hash
    /// tables").
    mirrors: Mutex<HashMap<Arc<str>, Mirror>>,
}

impl Shared {
    pub(super) fn new(store: Arc<dyn PresenceStore>) -> Self {
        Self {
            store,
            mirrors: Mutex::default(),
        }
    }

    /// Tells the store what has happened to a member of this server.
    pub(super) fn pass_on(&self, Event { stream, id, change }: &Event) {
        match change {
            Change::Joined(info) | Change::Updated(info) => self.store.enter(stream, id, info.as_deref()),
            Change::Left => self.store.exit(stream, id),
        }
    }

    /// The members of a stream, and those of this server of which it has not heard yet.
    pub(super) fn members<'a>(
        &self,
        stream: &str,
        own: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    ) -> BTreeMap<Arc<str>, Option<Arc<str>>> {
        let mut mirrors = self.mirrors();
        let mirror = mirrors.get_mut(stream);
        let known = mirror.into_iter().flat_map(|mirror| {
            mirror.show();
            mirror.members()
        });
        let mut all: BTreeMap<_, _> = known.map(|(id, info)| (Arc::clone(id), info.cloned())).collect();
        for (id, info) in own {
            if !all.contains_key(id) {
                all.insert(id.into(), info.map(Into::into));
            }
        }
        all
    }

    /// The members of a stream as the store has them now.
    pub(super) async fn read(&self, stream: &str) -> Result<Vec<Present>, EngineError> {
        self.store.members(stream).await
    }

    pub(super) fn mirrors(&self) -> MutexGuard<'_, HashMap<Arc<str>, Mirror>> {
        // A panic under the lock is a bug in this file; the other streams go on.
        self.mirrors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
