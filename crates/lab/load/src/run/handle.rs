//! The handle through which virtual users and setup query and control their run.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

use super::{Presence, Users};

/// A handle of a run. All clones are handles of the same run.
#[derive(Clone, Debug)]
pub struct RunHandle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    start: OnceLock<Instant>,
    /// When the first worker was ready to begin, at or after the start.
    begun: watch::Sender<Option<Instant>>,
    abort: watch::Sender<Option<String>>,
    marked_failed: OnceLock<String>,
    counts: Counts,
}

/// Numbers that all workers keep up to date.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) n_complete: AtomicU64,
    pub(super) n_interrupted: AtomicU64,
    /// Active virtual users. Locked for some nanoseconds when a user becomes active or ceases to be.
    presence: Mutex<Presence>,
    pub(super) n_vus: AtomicU32,
}

impl Default for RunHandle {
    fn default() -> Self {
        Self::new()
    }
}

impl RunHandle {
    /// A handle without a run, for virtual users outside of one.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                start: OnceLock::new(),
                begun: watch::Sender::new(None),
                abort: watch::Sender::new(None),
                marked_failed: OnceLock::new(),
                counts: Counts::default(),
            }),
        }
    }

    /// Ends the run: all iterations are interrupted (k6's `exec.test.abort`). The first reason stays.
    pub fn abort(&self, reason: impl Into<String>) {
        self.shared.abort.send_if_modified(|known| {
            let is_first = known.is_none();
            known.get_or_insert_with(|| reason.into());
            is_first
        });
    }

    /// Marks the run as failed without ending it (k6's `exec.test.fail`). The first reason stays.
    pub fn mark_failed(&self, reason: impl Into<String>) {
        self.shared.marked_failed.get_or_init(|| reason.into());
    }

    /// Time since the first scenario started; zero before that.
    pub fn elapsed(&self) -> Duration {
        self.shared.start.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Virtual users that are active now.
    pub fn active_vus(&self) -> u32 {
        self.presence(|presence| presence.n())
    }

    /// Virtual users that exist.
    pub fn initialized_vus(&self) -> u32 {
        self.counts().n_vus.load(Relaxed)
    }

    /// Iterations that ran to their end.
    pub fn iterations_completed(&self) -> u64 {
        self.counts().n_complete.load(Relaxed)
    }

    /// Iterations that were interrupted.
    pub fn iterations_interrupted(&self) -> u64 {
        self.counts().n_interrupted.load(Relaxed)
    }

    /// A virtual user becomes active.
    pub(super) fn enter(&self) {
        self.presence(|presence| presence.enter(self.elapsed()));
    }

    /// A virtual user is active no longer.
    pub(super) fn leave(&self) {
        self.presence(|presence| presence.leave(self.elapsed()));
    }

    /// The active virtual users of the time since the last call.
    pub(super) fn take_users(&self) -> Users {
        self.presence(|presence| presence.take(self.elapsed()))
    }

    /// The most virtual users active at the same moment since [`Self::take_users`].
    pub(super) fn peak_users(&self) -> u32 {
        self.presence(|presence| presence.peak())
    }

    fn presence<T>(&self, of: impl FnOnce(&mut Presence) -> T) -> T {
        // A panic cannot leave numbers half changed.
        let mut presence = self
            .counts()
            .presence
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        of(&mut presence)
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.shared.counts
    }

    /// Returns when the load really began, by the clock of the first worker: as late after the start as its timers were.
    pub async fn begun(&self) -> Instant {
        let mut begun = self.shared.begun.subscribe();
        // This has the sender.
        let at = begun.wait_for(Option::is_some).await.ok().and_then(|at| *at);
        at.unwrap_or_else(Instant::now)
    }

    /// A worker begins now.
    pub(super) fn begin(&self) {
        self.shared.begun.send_if_modified(|begun| {
            let is_first = begun.is_none();
            begun.get_or_insert_with(Instant::now);
            is_first
        });
    }

    pub(super) fn set_start(&self, start: Instant) {
        self.shared.start.get_or_init(|| start);
    }

    pub(super) fn marked_failed(&self) -> Option<String> {
        self.shared.marked_failed.get().cloned()
    }

    /// Why a virtual user, setup or teardown ended the run. `None` if none did.
    pub fn abort_reason(&self) -> Option<String> {
        self.shared.abort.borrow().clone()
    }

    /// Whether a virtual user, setup or teardown ended the run.
    pub(super) fn is_aborted(&self) -> bool {
        self.shared.abort.borrow().is_some()
    }

    /// Waits for an abort and gives its reason.
    pub(super) async fn aborted(&self) -> String {
        let mut abort = self.shared.abort.subscribe();
        let reason = abort
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|reason| reason.clone());
        // The sender lives as long as this handle.
        reason.unwrap_or_default()
    }
}
