//! The admin page's data and access rules: who may see it, and what it shows. [`crate::http`] serves it.
//!
//! The page costs next to nothing while it is closed: it polls every two seconds, its counters exist for Prometheus
//! anyway, the shards list their slow sessions only after a request, and four times a minute a point is added to the
//! history of a day. Many open pages are cheap, too: a description is made at most once a second, every request gets
//! the same bytes, and no shard waits for another one.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;

mod gate;
mod history;
mod inquiry;
mod slow_sessions;
mod state;

pub(crate) use self::{
    gate::{Gate, SESSION_LIFETIME, Verdict},
    history::{History, record},
    inquiry::{Inquiry, MAX_SESSIONS, Matches, Names, Session, Subscription},
    slow_sessions::{SlowSession, SlowSessions, Slowest},
    state::{Facts, State},
};
use crate::{AdminPage, operations::Operations};

/// The greatest age of a description that is served again. It is less than the page's polling interval, so every poll
/// gets a new description.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The admin page's state, shared by all shards.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) gate: Gate,
    pub(crate) slow_sessions: SlowSessions,
    pub(crate) history: History,
    pub(crate) operations: Arc<dyn Operations>,
    /// Whether the clients' port serves the page, because there is no port for metrics.
    pub(crate) on_main_port: bool,
    pub(crate) started: Instant,
    described: Mutex<Option<(Instant, Bytes)>>,
}

impl Admin {
    pub(crate) fn new(page: AdminPage, n_shards: usize) -> Self {
        Self {
            gate: Gate::new(page.secret),
            slow_sessions: SlowSessions::new(n_shards),
            history: History::default(),
            operations: page.operations,
            on_main_port: page.on_main_port,
            started: Instant::now(),
            described: Mutex::default(),
        }
    }

    /// Returns the last description, or makes a new one. Two shards may make one at the same moment; they do not wait
    /// for each other.
    pub(crate) fn described(&self, describe: impl FnOnce() -> Bytes) -> Bytes {
        let now = Instant::now();
        let known = self.lock().clone();
        if let Some((at, bytes)) = known
            && now.duration_since(at) < MAX_AGE
        {
            return bytes;
        }
        let bytes = describe();
        *self.lock() = Some((now, bytes.clone()));
        bytes
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Instant, Bytes)>> {
        // The value is only ever replaced as a whole, so a panic cannot leave it half written.
        self.described.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
