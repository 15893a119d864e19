//! Subscriptions of a resumed session that wait for the client's request for history (docs/protocols/extended.md,
//! Resuming).
//!
//! A client learns only from the welcome that its subscriptions live, and asks for what it missed afterwards. Messages
//! that came in between would be ahead of the replay, and in it once more. So the streams of such a subscription are held:
//! the replay begins with what the client missed, ends with what was kept since the return, and the subscription goes on in
//! the same step. A client that does not ask gets what was kept since its return, a little later.

use std::{rc::Rc, time::Duration};

use plimsoll_hub::SessionId;
use tokio::time::Instant;

use super::{CableSession, held::Held, replay};
use crate::shard::Shard;

/// How long a client may take for its request. Reason: several round trips of a slow network. A client that asks later
/// hears some messages early, and once more in the replay.
const HELD_FOR: Duration = Duration::from_secs(3);

impl CableSession {
    /// Holds all subscriptions.
    pub(super) fn hold(&mut self, shard: &Shard, id: SessionId) {
        let Some(view) = shard.view.as_ref().filter(|_| !self.subscriptions.is_empty()) else {
            return;
        };
        let mut hub = shard.hub.borrow_mut();
        for identifier in &self.subscriptions {
            hub.hold(id, Some(identifier), true);
        }
        drop(hub);
        let identifiers = self.subscriptions.clone();
        self.memory_mut().held = Some(Box::new(Held {
            until: Instant::now() + HELD_FOR,
            seen: view.seen(),
            identifiers,
        }));
    }

    /// The client has asked for the history of a subscription, or will not. Returns the serial number of the last message
    /// that it had when it came back, if the subscription is held. The caller replays what is behind it.
    pub(super) fn take_held(&mut self, identifier: &str) -> Option<u64> {
        let memory = self.memory.as_mut()?;
        let held = memory.held.as_mut()?;
        let position = held.identifiers.iter().position(|known| **known == *identifier)?;
        held.identifiers.remove(position);
        let seen = held.seen;
        if held.identifiers.is_empty() {
            memory.held = None;
        }
        Some(seen)
    }

    /// The client does something with a subscription before it asks for its history: if the subscription is held, it
    /// gets what was kept since its return.
    pub(super) async fn go_on(&mut self, shard: &Rc<Shard>, id: SessionId, identifier: &str) {
        if let Some(seen) = self.take_held(identifier) {
            replay::go_on(shard, id, identifier, seen).await;
        }
    }

    /// The client has not asked in time.
    pub(super) async fn go_on_with_all(&mut self, shard: &Rc<Shard>, id: SessionId) {
        let Some(held) = self.memory.as_mut().and_then(|memory| memory.held.take()) else {
            return;
        };
        for identifier in &held.identifiers {
            replay::go_on(shard, id, identifier, held.seen).await;
        }
    }

    /// Whether any subscription is held.
    pub(super) fn is_holding(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.held.is_some())
    }
}
