//! What stands behind the admin page: who may see it, and what it shows. [`crate::http`] serves it.
//!
//! It costs nothing while nobody looks: the page asks every two seconds, the counters are there for Prometheus anyway, and
//! the shards list their slow sessions only after somebody has asked. And it costs little when many look: a description is
//! made once a second at the most, whoever asks gets the same bytes, and no shard ever waits for another one.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;

mod gate;
mod slow_sessions;
mod state;

pub(crate) use self::{
    gate::{Gate, SESSION_LIFETIME, Verdict},
    slow_sessions::{SlowSession, SlowSessions, Slowest},
    state::{Facts, State},
};
use crate::AdminPage;

/// How old a description may be that somebody gets: less than the page's interval, so that every look is a new one.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Of all shards together.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) gate: Gate,
    pub(crate) slow_sessions: SlowSessions,
    /// Whether the clients' port has the page, because there is no port for metrics.
    pub(crate) on_main_port: bool,
    pub(crate) started: Instant,
    described: Mutex<Option<(Instant, Bytes)>>,
}

impl Admin {
    pub(crate) fn new(page: AdminPage, n_shards: usize) -> Self {
        Self {
            gate: Gate::new(page.secret),
            slow_sessions: SlowSessions::new(n_shards),
            on_main_port: page.on_main_port,
            started: Instant::now(),
            described: Mutex::default(),
        }
    }

    /// The last description, or a new one. Two shards may make one at the same moment; they do not wait for each other.
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
        // The value is replaced as a whole.
        self.described.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
