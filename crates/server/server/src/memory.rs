//! The memory of all sessions of a shard: disconnecting clients before it exceeds the budget, and returning memory that
//! is no longer needed.

use std::cmp::Reverse;

use plimsoll_hub::SessionId;

use crate::{
    ending::Ending,
    shard::{Sessions, Shard},
};

/// Sessions that occupy less are never ended to make room. It would gain nothing.
const MIN_HELD_BYTES: usize = 4096;

impl Shard {
    /// Ends the largest sessions when all together occupy more than seven eighths of the shard's budget, until they
    /// occupy three quarters. Only sessions with a full socket or an incomplete message are ended.
    pub(crate) fn make_room(&self) {
        let mut hub = self.hub.borrow_mut();
        if hub.budget().used() <= self.makes_room_at.get() {
            return;
        }
        let mut holders = hub.holders(MIN_HELD_BYTES);
        holders.sort_unstable_by_key(|(held_bytes, _)| Reverse(*held_bytes));
        for (_, id) in holders {
            if hub.budget().excess() == 0 {
                break;
            }
            self.give_up(&mut hub, id);
        }
        // If that did not help, an immediate second look would not help either.
        let budget = hub.budget();
        self.makes_room_at
            .set(budget.tight_at().max(budget.used() + budget.limit() / 64));
    }

    /// Ends a session at once, without last words, because its client would not read them.
    fn give_up(&self, hub: &mut Sessions, id: SessionId) {
        let Some((connection, outbox)) = hub.get_mut(id) else {
            return;
        };
        self.metrics.failed_server_messages.add(outbox.n_frames() as u64);
        outbox.abandon();
        connection.ending.set(Some(Ending::TooSlow));
        connection.cut();
        self.metrics.count_ending(Ending::TooSlow);
        self.metrics.given_up_clients.increment();
    }

    /// Changes a session's reservation from `known` to `n_bytes`.
    pub(crate) fn reserve(&self, id: SessionId, known: &mut usize, n_bytes: usize) {
        if *known == n_bytes {
            return;
        }
        if let Some((_, outbox)) = self.hub.borrow_mut().get_mut(id) {
            outbox.unreserve(*known);
            outbox.reserve(n_bytes);
        }
        *known = n_bytes;
        self.make_room();
    }

    /// Releases table memory that is no longer needed, and reports how much is in use. Called at every tick of the
    /// shard's timer.
    pub(crate) fn look_after_memory(&self) {
        let mut hub = self.hub.borrow_mut();
        hub.shrink();
        self.makes_room_at.set(hub.budget().tight_at());
        let used = i64::try_from(hub.budget().used()).unwrap_or(i64::MAX);
        self.metrics.pending_memory.set(used);
    }
}
