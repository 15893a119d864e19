//! The queue of sessions that have ended and of which the application has yet to hear.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use plimsoll_server::application::DisconnectRequest;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use crate::{calls::Calls, translation};

/// The end of the queue where sessions are put. Overflow rule: what finds the queue full is dropped, with a
/// warning: a mass disconnect must not keep the application from serving those who connect again.
pub(crate) struct Farewells {
    queue: mpsc::Sender<DisconnectRequest>,
    n_dropped: AtomicU64,
    is_last_orders: watch::Sender<bool>,
}

/// The other end, which makes the calls.
pub(crate) struct Caller {
    queue: mpsc::Receiver<DisconnectRequest>,
    is_last_orders: watch::Receiver<bool>,
    /// At most one call starts in this time.
    interval: Duration,
    /// Calls under way or waiting for their turn at the same time.
    concurrency: usize,
}

/// A queue for `capacity` sessions of which at most `rate_per_sec` are told per second.
pub(crate) fn queue(capacity: usize, rate_per_sec: NonZeroU32, concurrency: usize) -> (Farewells, Caller) {
    let (sender, receiver) = mpsc::channel(capacity);
    let (is_last_orders, told) = watch::channel(false);
    let farewells = Farewells {
        queue: sender,
        n_dropped: AtomicU64::new(0),
        is_last_orders,
    };
    let caller = Caller {
        queue: receiver,
        is_last_orders: told,
        interval: Duration::from_secs(1) / rate_per_sec.get(),
        concurrency,
    };
    (farewells, caller)
}

impl Farewells {
    /// Queues a session, without waiting.
    pub(crate) fn add(&self, request: DisconnectRequest) {
        if let Err(error) = self.queue.try_send(request) {
            let n_dropped = self.n_dropped.fetch_add(1, Ordering::Relaxed) + 1;
            // A flood of drops must not become a flood of log lines.
            if n_dropped.is_power_of_two() {
                tracing::warn!(n_dropped, "A Disconnect call is dropped: {error}.");
            }
        }
    }

    /// Gives up the rate: what is queued is told as fast as the application takes it, and then the caller ends.
    pub(crate) async fn finish(&self) {
        self.is_last_orders.send_replace(true);
        self.is_last_orders.closed().await;
    }
}

impl Caller {
    /// Makes the calls until [`Farewells::finish`].
    pub(crate) async fn run(mut self, calls: Arc<Calls>) {
        let mut ticks = interval(self.interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut under_way = JoinSet::new();
        while let Some(request) = self.next().await {
            if !*self.is_last_orders.borrow() {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = last_orders(&mut self.is_last_orders) => {}
                }
            }
            if under_way.len() >= self.concurrency {
                under_way.join_next().await;
            }
            while under_way.try_join_next().is_some() {}
            under_way.spawn(tell(Arc::clone(&calls), request));
        }
        while under_way.join_next().await.is_some() {}
    }

    /// `None`: it is closing time and the queue is empty.
    async fn next(&mut self) -> Option<DisconnectRequest> {
        if !*self.is_last_orders.borrow() {
            tokio::select! {
                biased;
                request = self.queue.recv() => return request,
                () = last_orders(&mut self.is_last_orders) => {}
            }
        }
        self.queue.close();
        self.queue.recv().await
    }
}

async fn last_orders(told: &mut watch::Receiver<bool>) {
    // An error says that the other end is gone, which means the same.
    let _told_or_gone = told.wait_for(|is_last_orders| *is_last_orders).await;
}

async fn tell(calls: Arc<Calls>, request: DisconnectRequest) {
    let sid = request.sid.clone();
    let result = calls.call(&sid, &translation::disconnect_request(request)).await;
    if let Err(error) = result {
        tracing::warn!(%sid, code = ?error.code(), "A Disconnect call failed: {}", error.message());
    }
}
