//! What a store says about the members of streams at all servers ([`crate::presence_store`]).
//!
//! The calls for one stream come one after the other.

use std::sync::Arc;

use plimsoll_broker::presence::{Announcement, Change, Listing};

use super::Publisher;
use crate::{
    presence_event,
    presence_store::{Membership, Told},
};

impl Publisher {
    /// The members of a stream change. Returns whether they have to be read, because a change is missing.
    pub async fn hear_member(&self, stream: &str, announcement: Announcement) -> bool {
        self.tell(|members| members.hear(stream, announcement)).await
    }

    /// All members of a stream; `ours` are those that the store has of this server. Returns whether they have to be read
    /// again, because more has been announced.
    pub async fn take_members(&self, stream: &str, listing: Listing, ours: &[Arc<str>]) -> bool {
        self.tell(|members| members.take(stream, listing, ours)).await
    }

    /// Changes of a stream's members may be missing from now on, until they are read.
    pub fn await_members(&self, stream: &str) {
        if let Some(members) = &self.members {
            members.await_listing(stream);
        }
    }

    /// The members of a stream are not followed any more.
    pub fn forget_members(&self, stream: &str) {
        if let Some(members) = &self.members {
            members.forget(stream);
        }
    }

    /// Whether this server knows the members up to the change with this number, or waits for them.
    pub fn is_at(&self, stream: &str, number: u64) -> bool {
        self.members
            .as_ref()
            .is_none_or(|members| members.is_at(stream, number))
    }

    /// This server has made a change of which all servers hear.
    pub fn made(&self, stream: &str, id: Arc<str>, change: Change) {
        if let Some(members) = &self.members {
            members.made(stream, id, change);
        }
    }

    /// Tells clients what follows. Returns whether something is missing.
    async fn tell(&self, happen: impl FnOnce(&dyn Membership) -> Told) -> bool {
        let Some(members) = &self.members else {
            return false;
        };
        let Told {
            is_incomplete,
            events,
        } = happen(&**members);
        for event in events {
            let places = self.reserve(presence_event::MAX_BYTES).await;
            places.post(event.stream.to_string(), presence_event::payload(&event));
        }
        is_incomplete
    }
}
