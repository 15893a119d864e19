//! What the store of all servers says about the members of streams.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use plimsoll_broker::presence::{Announcement, Change, Event, Listing};

use super::{Roll, shared::Shared};
use crate::presence_store::{Membership, Told};

impl Membership for Roll {
    fn hear(&self, stream: &str, announcement: Announcement) -> Told {
        let Some(shared) = &self.shared else {
            return Told::default();
        };
        let mut told = None;
        let mut mirrors = shared.mirrors();
        let mirror = match mirrors.get_mut(stream) {
            Some(mirror) => mirror,
            None => mirrors.entry(stream.into()).or_default(),
        };
        let is_incomplete = mirror.hear(announcement, |id, change| told = Some((id, change)));
        Told {
            is_incomplete,
            events: self.events(stream, told),
        }
    }

    fn take(&self, stream: &str, listing: Listing, ours: &[Arc<str>]) -> Told {
        let Some(shared) = &self.shared else {
            return Told::default();
        };
        let mut told = Vec::new();
        let is_incomplete = {
            let mut mirrors = shared.mirrors();
            let mirror = mirrors.entry(stream.into()).or_default();
            mirror.take(listing, |id, change| told.push((id, change)))
        };
        self.correct(shared, stream, ours);
        Told {
            is_incomplete,
            events: self.events(stream, told),
        }
    }

    fn await_listing(&self, stream: &str) {
        if let Some(shared) = &self.shared {
            shared.mirrors().entry(stream.into()).or_default().await_listing();
        }
    }

    fn forget(&self, stream: &str) {
        if let Some(shared) = &self.shared {
            let mut mirrors = shared.mirrors();
            mirrors.remove(stream);
            if mirrors.len() * 4 < mirrors.capacity() {
                let n = mirrors.len();
                mirrors.shrink_to(n * 2);
            }
        }
    }

    fn is_at(&self, stream: &str, number: u64) -> bool {
        let is_known = |shared: &Shared| {
            shared
                .mirrors()
                .get(stream)
                .is_none_or(|mirror| mirror.is_at(number))
        };
        self.shared.as_ref().is_none_or(is_known)
    }

    fn made(&self, stream: &str, id: Arc<str>, change: Change) {
        self.report(&Event {
            stream: stream.into(),
            id,
            change,
        });
    }
}

impl Roll {
    /// Lets the store know what it should have of this server. It may have lost it, or changes found no room on their way.
    fn correct(&self, shared: &Shared, stream: &str, ours: &[Arc<str>]) {
        let presence = self.lock();
        let own: BTreeMap<&str, Option<&str>> = presence.members(stream).collect();
        let ours: BTreeSet<&str> = ours.iter().map(|id| &**id).collect();
        for id in ours.iter().filter(|id| !own.contains_key(*id)) {
            shared.store.exit(stream, id);
        }
        for (id, info) in own.iter().filter(|(id, _)| !ours.contains(*id)) {
            shared.store.enter(stream, id, *info);
        }
    }

    /// What clients are told of these changes.
    fn events(&self, stream: &str, changes: impl IntoIterator<Item = (Arc<str>, Change)>) -> Vec<Event> {
        let told = changes.into_iter().filter(|(_, change)| self.is_told(change));
        let stream: Arc<str> = stream.into();
        told.map(|(id, change)| Event {
            stream: Arc::clone(&stream),
            id,
            change,
        })
        .collect()
    }
}
