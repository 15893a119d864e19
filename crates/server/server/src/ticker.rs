//! The one timer of a shard: pings and missed close deadlines.

use std::{
    rc::Rc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_cable::reply;
use plimsoll_hub::{Format, Frame};
use tokio::time::{Instant, MissedTickBehavior};

use crate::{encoding, pace::PingPrecision, shard::Shard};

/// Sessions that are pinged before other tasks get their turn.
const PORTION: usize = 256;

/// Runs for as long as the shard.
pub(crate) async fn run(shard: Rc<Shard>, tick: Duration) {
    let mut ticks = tokio::time::interval(tick);
    // A stalled shard must not send the pings of several ticks at once.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let due = ticks.tick().await;
        shard.metrics.loop_lag.observe(due.elapsed());
        shard.cut_overdue();
        shard.look_after_memory();
        shard.forget_old();
        shard.ping_due().await;
    }
}

impl Shard {
    fn cut_overdue(&self) {
        while let Some(id) = self.closing.borrow_mut().pop_due(Instant::now()) {
            if let Some((connection, _)) = self.hub.borrow_mut().get_mut(id) {
                connection.cut();
            }
        }
    }

    /// One shard does this for all of them.
    fn forget_old(&self) {
        if self.number != 0 {
            return;
        }
        if let Some(archive) = &self.shared.archive {
            archive.sweep();
        }
        if let Some(awaited) = &self.shared.awaited {
            self.say_farewells(awaited.tick());
        }
    }

    async fn ping_due(self: &Rc<Self>) {
        let due = {
            let mut hub = self.hub.borrow_mut();
            self.heartbeat
                .borrow_mut()
                .advance(|id| hub.get_mut(id).is_some())
        };
        if due.is_empty() {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut pings = Pings::at(now);
        for portion in due.chunks(PORTION) {
            for (id, precision) in portion {
                let format = self.hub.borrow().format(*id);
                if let Some(format) = format {
                    let frame = pings.frame(format, *precision, |bytes| self.hub.borrow().frame(bytes));
                    self.send_shared(*id, frame);
                    self.flush(*id);
                }
            }
            tokio::task::yield_now().await;
        }
    }
}

/// The pings of one tick, encoded once per format and precision.
struct Pings {
    since_epoch: Duration,
    /// One entry per kind of client, so only a handful.
    frames: Vec<((Format, PingPrecision), Frame)>,
}

impl Pings {
    fn at(since_epoch: Duration) -> Self {
        Self {
            since_epoch,
            frames: Vec::new(),
        }
    }

    fn frame(
        &mut self,
        format: Format,
        precision: PingPrecision,
        share: impl FnOnce(Vec<u8>) -> Frame,
    ) -> Frame {
        let kind = (format, precision);
        if let Some((_, frame)) = self.frames.iter().find(|(known, _)| *known == kind) {
            return frame.clone();
        }
        let message = reply::encode_ping(precision.timestamp(self.since_epoch));
        let frame = share(encoding::text(&message, format));
        self.frames.push((kind, frame.clone()));
        frame
    }
}
