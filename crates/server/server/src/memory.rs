//! What all sessions of a shard occupy together: making room before it is too much, and giving memory back.

use std::cmp::Reverse;

use plimsoll_hub::SessionId;

use crate::{
    ending::Ending,
    shard::{Sessions, Shard},
};

/// Sessions that occupy less are never ended for the others: nothing would be gained.
const MIN_HELD_BYTES: usize = 4096;

impl Shard {
    /// Ends the sessions that occupy most, when all together occupy more than seven eighths of the shard's budget,
    /// until it is three quarters. Only those whose connection takes no more bytes, or whose message has not arrived
    /// completely, are asked for it.
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
        // When that did not help, looking again at once would not either.
        let budget = hub.budget();
        self.makes_room_at
            .set(budget.tight_at().max(budget.used() + budget.limit() / 64));
    }

    /// Ends a session at once, without last words: its client would not read them.
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

    /// Corrects what is reserved for a session from `known` to `n_bytes`.
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

    /// Gives back what tables do not need any more, and tells how much is in use. Every tick of the shard's timer.
    pub(crate) fn look_after_memory(&self) {
        let mut hub = self.hub.borrow_mut();
        hub.shrink();
        self.makes_room_at.set(hub.budget().tight_at());
        let used = i64::try_from(hub.budget().used()).unwrap_or(i64::MAX);
        self.metrics.pending_memory.set(used);
    }
}
