//! Pending subscriptions of all shards: how many there are, why, and what the log says about them.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::{Counter, Registry};
use serde::Serialize;
use tokio::time::Instant;

/// The least time between two log lines about pending subscriptions.
const QUIET: Duration = Duration::from_secs(10);

/// The count of pending subscriptions. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub(crate) struct PendingSubscriptions {
    state: Arc<Mutex<State>>,
    abandoned: Counter,
}

#[derive(Debug, Default)]
struct State {
    n_pending: usize,
    /// The reason of the last failed call.
    reason: Box<str>,
    said_at: Option<Instant>,
    /// Whether the last log line said that subscriptions are pending.
    is_said: bool,
}

/// The number of pending subscriptions, for the admin page.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    n: usize,
    /// The reason of the last failed call. `None` if no subscription is pending.
    reason: Option<Box<str>>,
}

/// One pending subscription, until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(Arc<Mutex<State>>);

impl PendingSubscriptions {
    pub(crate) fn new(registry: &Registry) -> Self {
        let state = Arc::<Mutex<State>>::default();
        let counted = Arc::clone(&state);
        registry.gauge_fn(
            "pending_subscriptions_num",
            "Subscriptions that the application could not decide about yet; the server asks again",
            move || lock(&counted).n_pending as f64,
        );
        Self {
            state,
            abandoned: registry.counter(
                "abandoned_subscriptions_total",
                "Pending subscriptions that were given up after the last attempt",
            ),
        }
    }

    /// Counts a pending subscription, with the application's reason.
    pub(crate) fn add(&self, reason: &str) -> Counted {
        lock(&self.state).n_pending += 1;
        self.failed(reason);
        Counted(Arc::clone(&self.state))
    }

    /// Records the reason of another failed call for a pending subscription.
    pub(crate) fn failed(&self, reason: &str) {
        let mut state = lock(&self.state);
        if *state.reason != *reason {
            state.reason = reason.into();
        }
        if state.said_at.is_none_or(|at| at.elapsed() >= QUIET) {
            state.said_at = Some(Instant::now());
            state.is_said = true;
            let n = state.n_pending;
            drop(state);
            tracing::warn!(
                "Pending subscriptions: {n}. The server asks the application again. The last call failed: {reason}"
            );
        }
    }

    /// Counts a subscription that is given up.
    pub(crate) fn abandoned(&self) {
        self.abandoned.increment();
    }

    pub(crate) fn summary(&self) -> Summary {
        let state = lock(&self.state);
        Summary {
            n: state.n_pending,
            reason: (state.n_pending > 0).then(|| state.reason.clone()),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut state = lock(&self.0);
        state.n_pending -= 1;
        if state.n_pending == 0 && std::mem::take(&mut state.is_said) {
            drop(state);
            tracing::info!("No subscription is pending any more.");
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Each change leaves the state valid, so a poisoned lock is harmless.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn counts_what_waits_and_keeps_the_last_reason() {
        let pending = PendingSubscriptions::new(&Registry::default());
        let summary = |n, reason: Option<&str>| Summary {
            n,
            reason: reason.map(Into::into),
        };
        assert_eq!(pending.summary(), summary(0, None));
        let first = pending.add("connection refused");
        let second = pending.add("no free turn");
        assert_eq!(pending.summary(), summary(2, Some("no free turn")));
        pending.failed("connection refused");
        drop(first);
        assert_eq!(pending.summary(), summary(1, Some("connection refused")));
        drop(second);
        assert_eq!(pending.summary(), summary(0, None));
    }
}
