//! The end of a shard: clients may be sent away one after the other; then accepted broadcasts are delivered, every
//! session that is left is told that the server restarts, and the clients get a moment to leave.

use std::{rc::Rc, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until, timeout_at},
};

use crate::{Config, ending::Ending, shard::Shard};

/// The least time for the application to finish when the sessions used all the rest: enough for a few calls, and short
/// enough for process supervisors that wait three seconds.
pub(crate) const MIN_FINISH: Duration = Duration::from_millis(500);

/// The longest time between two clients that are sent away one after the other, as with AnyCable: a server with few
/// clients need not take the whole time.
const MAX_GAP: Duration = Duration::from_millis(500);

/// Sessions that are told to end before other tasks get their turn.
const PORTION: usize = 256;

/// The server's progress in stopping. All shards follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The server serves clients and backends.
    Serving,
    /// The server sends its clients away one after the other, and takes no new ones. Everything else goes on.
    Leaving,
    /// The server takes no more work. Accepted broadcasts are delivered, and then the sessions end.
    Draining {
        /// The time at which the server was told to stop.
        since: Instant,
    },
    /// No shard has sessions any more; the listeners close.
    Over,
}

/// The deadlines for the parts of a stop.
#[derive(Debug, PartialEq, Eq)]
struct Schedule {
    /// Deadline for putting accepted broadcasts into the sessions' outboxes. That usually takes less than a
    /// millisecond; a server with full mailboxes may use the time that the sessions and the application do not need.
    delivery: Instant,
    /// Deadline for the sessions. Clients that have not left by then are cut off.
    goodbye: Instant,
    /// Deadline for the calls to the application to return.
    calls: Instant,
}

impl Schedule {
    fn new(config: &Config, since: Instant) -> Self {
        Self::of(config.shutdown_timeout, config.drain_timeout, since)
    }

    /// Divides `whole`. The sessions get `goodbyes` if there is enough time; delivery gets at least half of it.
    fn of(whole: Duration, goodbyes: Duration, since: Instant) -> Self {
        let others = goodbyes + MIN_FINISH;
        Self {
            delivery: since + whole.saturating_sub(others).max(whole / 2),
            goodbye: since + whole,
            calls: since + whole.saturating_sub(MIN_FINISH),
        }
    }
}

/// The deadline by which a server that was told to stop at `since` must have passed on the broadcasts it accepted.
pub(crate) fn delivery_deadline(config: &Config, since: Instant) -> Instant {
    Schedule::new(config, since).delivery
}

/// Waits for the stop, sends the clients away if there is a time for that, and drops `left`. Then waits until all earlier
/// publications are in the outboxes, tells all sessions to end, and returns when they are gone or the time is up and no
/// call to the application is in progress. Sessions that are left then end with their shard.
pub(crate) async fn run(shard: &Rc<Shard>, stage: &mut watch::Receiver<Stage>, left: mpsc::Sender<()>) {
    let next = stage.wait_for(|stage| *stage != Stage::Serving).await;
    if next.is_ok_and(|stage| *stage == Stage::Leaving) {
        send_away(shard).await;
    }
    drop(left);
    let schedule = Schedule::new(&shard.config, stopped(stage).await);
    let _or_time_is_up = timeout_at(schedule.delivery, shard.draining.may_drain.notified()).await;
    let emptied = shard.draining.emptied.notified();
    say_goodbye(shard).await;
    if !shard.hub.borrow().is_empty() {
        let goodbye = Instant::now() + shard.config.drain_timeout;
        // Sessions that have not answered by now are cut off.
        let _all_left = timeout_at(goodbye.min(schedule.goodbye), emptied).await;
    }
    // The application must be told about the end of sessions to which a late call still grants a stream.
    let _all_returned = timeout_at(schedule.calls, shard.calls.ended()).await;
}

/// Sends the clients away, one after the other, evenly over the whole time. A client that comes back by itself meanwhile
/// is told to use another server. Returns early when all have left.
async fn send_away(shard: &Rc<Shard>) {
    shard.draining.sends_away.set(true);
    let ids: Vec<_> = shard.hub.borrow().ids().collect();
    let gap = gap(shard.config.slow_drain, ids.len());
    // The shards take turns.
    let mut due = Instant::now() + gap.mul_f64(shard.number as f64 / shard.config.n_shards as f64);
    for id in ids {
        sleep_until(due).await;
        if shard.hub.borrow().is_empty() {
            return;
        }
        shard.end(id, Ending::ServerRestart);
        shard.flush(id);
        due += gap;
    }
}

/// The time from one client of a shard to the next when `n_sessions` are sent away over the time `whole`.
fn gap(whole: Duration, n_sessions: usize) -> Duration {
    let n_sessions = u32::try_from(n_sessions).unwrap_or(u32::MAX);
    (whole / n_sessions.max(1)).min(MAX_GAP)
}

/// Completes with the stopping time when the server takes no more work.
async fn stopped(stage: &mut watch::Receiver<Stage>) -> Instant {
    let draining = stage
        .wait_for(|stage| !matches!(stage, Stage::Serving | Stage::Leaving))
        .await;
    match draining.as_deref() {
        Ok(Stage::Draining { since }) => *since,
        // The sender was dropped without a message: the server is gone, and there is no time left.
        _ => Instant::now(),
    }
}

async fn say_goodbye(shard: &Rc<Shard>) {
    let ids: Vec<_> = shard.hub.borrow().ids().collect();
    for portion in ids.chunks(PORTION) {
        for id in portion {
            shard.end(*id, Ending::ServerRestart);
            shard.flush(*id);
        }
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(whole_ms: u64, goodbyes_ms: u64, expected_ms: [u64; 3]) {
        let since = Instant::now();
        let whole = Duration::from_millis(whole_ms);
        let schedule = Schedule::of(whole, Duration::from_millis(goodbyes_ms), since);
        let found = [schedule.delivery, schedule.goodbye, schedule.calls];
        let expected = expected_ms.map(|ms| since + Duration::from_millis(ms));
        assert_eq!(found, expected, "{whole_ms} {goodbyes_ms}");
    }

    #[test]
    fn clients_are_sent_away_evenly_and_few_of_them_sooner() {
        let check = |whole_s, n_sessions, expected_ms| {
            let found = gap(Duration::from_secs(whole_s), n_sessions);
            assert_eq!(
                found,
                Duration::from_millis(expected_ms),
                "{whole_s} {n_sessions}"
            );
        };
        check(30, 10_000, 3);
        check(30, 60, 500);
        check(60, 240, 250);
        check(30, 1, 500);
        check(30, 0, 500);
        check(0, 7, 0);
    }

    #[test]
    fn each_part_of_a_stop_leaves_time_for_the_others() {
        check(30_000, 2000, [27_500, 30_000, 29_500]);
        check(5000, 2000, [2500, 5000, 4500]);
        check(2000, 2000, [1000, 2000, 1500]);
        check(1000, 1000, [500, 1000, 500]);
        check(200, 200, [100, 200, 0]);
    }
}
