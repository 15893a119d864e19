//! The end of a shard: every session hears that the server restarts, and gets a moment to leave.

use std::rc::Rc;

use tokio::time::{Instant, timeout, timeout_at};

use crate::{outgoing::Ending, server::MIN_FINISH, shard::Shard};

/// Sessions that are told before other tasks get their turn.
const PORTION: usize = 256;

/// Says goodbye to all sessions and returns when they are gone or the time is up, and no call to the application is
/// under way. Sessions that are left then end with their shard.
pub(crate) async fn run(shard: &Rc<Shard>) {
    let calls_end_by = Instant::now() + shard.config.shutdown_timeout.saturating_sub(MIN_FINISH);
    shard.is_draining.set(true);
    let ids: Vec<_> = shard.hub.borrow().ids().collect();
    let emptied = shard.emptied.notified();
    for portion in ids.chunks(PORTION) {
        for id in portion {
            shard.end(*id, Ending::ServerRestart);
            shard.flush(*id);
        }
        tokio::task::yield_now().await;
    }
    if !shard.hub.borrow().is_empty() {
        // Time is up: those who have not answered are cut off.
        let _all_left = timeout(shard.config.drain_timeout, emptied).await;
    }
    // What a call still grants, the application wants to hear of when its session ends.
    let _all_returned = timeout_at(calls_end_by, shard.calls.ended()).await;
}
