//! The queue of ended sessions that the application has not been told about yet.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use plimsoll_server::application::DisconnectRequest;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use crate::{calls::Calls, retry::Patience, translation, transport::Origin};

/// The sending end of the queue. Overflow rule: a session that finds the queue full is dropped, with a warning, because
/// a mass disconnect must not keep the application from serving clients that reconnect. When the server stops, all
/// sessions end at once and no client reconnects, so nothing is dropped then; the number of sessions is the bound.
pub(crate) struct Farewells {
    queue: mpsc::UnboundedSender<DisconnectRequest>,
    n_queued: Arc<AtomicUsize>,
    capacity: usize,
    n_dropped: AtomicU64,
    pace: watch::Sender<Pace>,
}

/// How fast the application is told about ended sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pace {
    /// At the configured rate.
    Rated,
    /// As fast as the application answers.
    Hurried,
    /// As fast as the application answers, and no more sessions are added.
    Closing,
}

/// The receiving end, which makes the calls.
pub(crate) struct Caller {
    queue: mpsc::UnboundedReceiver<DisconnectRequest>,
    n_queued: Arc<AtomicUsize>,
    pace: watch::Receiver<Pace>,
    /// The least time between the starts of two calls.
    interval: Duration,
    /// The most calls that are in progress or wait for their turn at the same time.
    concurrency: usize,
}

/// A queue for `capacity` sessions. The application is told about at most `rate_per_sec` sessions per second.
pub(crate) fn queue(capacity: usize, rate_per_sec: NonZeroU32, concurrency: usize) -> (Farewells, Caller) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let n_queued = Arc::new(AtomicUsize::new(0));
    let (pace, told) = watch::channel(Pace::Rated);
    let farewells = Farewells {
        queue: sender,
        n_queued: Arc::clone(&n_queued),
        capacity,
        n_dropped: AtomicU64::new(0),
        pace,
    };
    let caller = Caller {
        queue: receiver,
        n_queued,
        pace: told,
        // Timers do not accept an interval of zero.
        interval: (Duration::from_secs(1) / rate_per_sec.get()).max(Duration::from_nanos(1)),
        concurrency,
    };
    (farewells, caller)
}

impl Farewells {
    /// Queues a session, without waiting.
    pub(crate) fn add(&self, request: DisconnectRequest) {
        let n_queued = self.n_queued.fetch_add(1, Ordering::Relaxed);
        let has_room = n_queued < self.capacity || *self.pace.borrow() >= Pace::Hurried;
        if has_room && self.queue.send(request).is_ok() {
            return;
        }
        self.n_queued.fetch_sub(1, Ordering::Relaxed);
        let n_dropped = self.n_dropped.fetch_add(1, Ordering::Relaxed) + 1;
        // A flood of drops must not become a flood of log lines.
        if n_dropped.is_power_of_two() {
            let capacity = self.capacity;
            tracing::warn!(
                n_dropped,
                "A Disconnect call is dropped: {capacity} wait already (--disconnect_backlog_size)."
            );
        }
    }

    /// A function that returns the current number of queued sessions.
    pub(crate) fn n_queued(&self) -> impl Fn() -> usize + Send + Sync + use<> {
        let n_queued = Arc::clone(&self.n_queued);
        move || n_queued.load(Ordering::Relaxed)
    }

    /// Drops the limits on rate and capacity, because the server stops. The application is told as fast as it answers.
    pub(crate) fn hurry(&self) {
        self.pace.send_replace(Pace::Hurried);
    }

    /// Completes when the queue is empty. No more sessions can be added.
    pub(crate) async fn finish(&self) {
        self.pace.send_replace(Pace::Closing);
        self.pace.closed().await;
    }
}

impl Caller {
    /// Makes the calls until [`Farewells::finish`].
    pub(crate) async fn run(mut self, calls: Arc<Calls>) {
        let mut ticks = interval(self.interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut under_way = JoinSet::new();
        while let Some(request) = self.next().await {
            self.n_queued.fetch_sub(1, Ordering::Relaxed);
            tokio::select! {
                biased;
                () = reached(&mut self.pace, Pace::Hurried) => {}
                _ = ticks.tick() => {}
            }
            if under_way.len() >= self.concurrency {
                under_way.join_next().await;
            }
            while under_way.try_join_next().is_some() {}
            under_way.spawn(tell(Arc::clone(&calls), request));
        }
        while under_way.join_next().await.is_some() {}
    }

    /// The next session. `None`: the queue is closing and empty.
    async fn next(&mut self) -> Option<DisconnectRequest> {
        tokio::select! {
            biased;
            request = self.queue.recv() => return request,
            () = reached(&mut self.pace, Pace::Closing) => {}
        }
        self.queue.close();
        self.queue.recv().await
    }
}

async fn reached(told: &mut watch::Receiver<Pace>, wanted: Pace) {
    // An error means that the other end is gone, which has the same effect.
    let _told_or_gone = told.wait_for(|pace| *pace >= wanted).await;
}

async fn tell(calls: Arc<Calls>, request: DisconnectRequest) {
    let origin = Origin::background(&request.sid);
    let message = calls.transport.encode(&translation::disconnect_request(&request));
    let _failures_are_in_the_journal = calls
        .call(
            origin,
            Patience::Unlimited,
            message,
            translation::disconnect_reply,
        )
        .await;
}

#[cfg(test)]
mod tests {
    use plimsoll_server::application::{Entries, Environment};

    use super::*;

    fn request(n: usize) -> DisconnectRequest {
        DisconnectRequest {
            sid: n.to_string().into(),
            identifiers: "".into(),
            subscriptions: Vec::new(),
            environment: Environment::EMPTY,
            istate: Entries::EMPTY,
        }
    }

    #[tokio::test]
    async fn any_rate_leaves_some_time_between_two_calls() {
        let (_farewells, caller) = queue(1, NonZeroU32::MAX, 1);
        // The interval would panic without a runtime.
        interval(caller.interval).tick().await;
    }

    #[tokio::test]
    async fn what_finds_the_queue_full_is_dropped_but_not_when_the_server_stops() {
        let (farewells, mut caller) = queue(2, NonZeroU32::MIN, 1);
        (0..5).for_each(|n| farewells.add(request(n)));
        assert_eq!(caller.queue.len(), 2);
        farewells.hurry();
        (5..10_000).for_each(|n| farewells.add(request(n)));
        assert_eq!(caller.queue.len(), 2 + 9_995);
        farewells.pace.send_replace(Pace::Closing);
        let mut sids = Vec::new();
        while let Some(request) = caller.next().await {
            sids.push(request.sid);
        }
        let expected = [0, 1].into_iter().chain(5..10_000);
        assert_eq!(
            sids,
            expected.map(|n| n.to_string().into()).collect::<Vec<Box<str>>>()
        );
    }
}
