//! Ends the attendances of clients that have been away for too long.

use std::rc::Rc;

use tokio::time::MissedTickBehavior;

use crate::{heartbeat::TICK, shard::Shard};

/// Runs for as long as the shard. One shard does this for all of them.
pub(crate) async fn run(shard: Rc<Shard>) {
    let Some(roll) = shard.shared.roll.as_ref().filter(|_| shard.number == 0) else {
        return;
    };
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        roll.expire(&shard.publisher).await;
    }
}
