//! The one timer of a shard: pings, missing answers to them, and missed close deadlines.

use std::{
    rc::Rc,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_cable::reply;
use plimsoll_hub::{Format, Frame, SessionId};
use plimsoll_websocket::Opcode;
use tokio::time::{Instant, MissedTickBehavior};

use crate::{encoding, ending::Ending, liveness::Answer, pace::PingPrecision, shard::Shard};

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
        shard.end_silent();
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
    fn forget_old(self: &Rc<Self>) {
        if self.number != 0 {
            return;
        }
        if let Some(archive) = &self.shared.archive {
            archive.sweep();
        }
        if let Some(awaited) = &self.shared.awaited {
            let farewells = awaited.tick();
            if !farewells.is_empty() {
                let (shard, awaited) = (Rc::clone(self), Arc::clone(awaited));
                tokio::task::spawn_local(async move {
                    shard.say_farewells(awaited.without_taken(farewells).await);
                });
            }
        }
    }

    /// Ends the sessions whose clients have not answered a ping in time.
    fn end_silent(self: &Rc<Self>) {
        let Some(pongs) = &self.pongs else {
            return;
        };
        let late = pongs.borrow_mut().advance(|id| {
            let mut hub = self.hub.borrow_mut();
            let (connection, _) = hub.get_mut(id)?;
            let answer = connection.liveness.answer();
            if answer == Answer::Given {
                connection.liveness.is_no_longer_watched();
            }
            Some(answer)
        });
        for id in late {
            self.end(id, Ending::NoPong);
            self.flush(id);
        }
    }

    /// A client was pinged, and perhaps must answer.
    fn expect_answer(&self, id: SessionId) {
        let Some(pongs) = &self.pongs else {
            return;
        };
        let mut pongs = pongs.borrow_mut();
        let mut hub = self.hub.borrow_mut();
        if let Some((connection, _)) = hub.get_mut(id)
            && connection.liveness.pinged(pongs.now())
        {
            pongs.watch(id);
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
        let native = self.config.native_pings.then(|| {
            let ping = encoding::frame(Opcode::Ping, b"");
            self.hub.borrow().frame(ping)
        });
        for portion in due.chunks(PORTION) {
            for (id, precision) in portion {
                let format = self.hub.borrow().format(*id);
                if let Some(format) = format {
                    let frame = pings.frame(format, *precision, |bytes| self.hub.borrow().frame(bytes));
                    self.send_shared(*id, frame);
                    if let Some(frame) = native
                        .as_ref()
                        .filter(|_| encoding::event_stream(format).is_none())
                    {
                        self.send_shared(*id, frame.clone());
                    }
                    self.expect_answer(*id);
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
