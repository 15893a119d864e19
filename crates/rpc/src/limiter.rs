//! How many calls may be under way at the same time.

mod gradient;
#[cfg(test)]
mod simulation;

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

use self::gradient::Gradient;
use crate::proto::Method;

/// How many calls an application gets at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Always this many.
    Fixed(NonZeroUsize),
    /// As many as the application turns out to work on.
    Adaptive(Bounds),
}

/// Where a limit that adapts begins and how far it goes; `min <= initial <= max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The first limit.
    pub initial: NonZeroUsize,
    /// The least.
    pub min: NonZeroUsize,
    /// The most.
    pub max: NonZeroUsize,
}

/// Hands out turns: first come, first served.
pub(crate) struct Limiter {
    permits: Semaphore,
    /// Permits that are out although the limit no longer allows them; they end when they come back.
    n_surplus: AtomicUsize,
    n_waiting: AtomicUsize,
    limit: Mutex<Limit>,
}

enum Limit {
    Fixed(usize),
    Adaptive(Gradient),
}

/// The right to one attempt. Dropping it gives it back, and says nothing about the application.
pub(crate) struct Turn<'a> {
    limiter: &'a Limiter,
    permit: Option<SemaphorePermit<'a>>,
    started: Instant,
    /// Nobody else could have had a turn at that time.
    was_last: bool,
}

/// What an attempt said about the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// It answered: how long that took counts.
    Answered,
    /// It said that it has no free worker.
    Refused,
    /// It had not answered when time was up.
    Overdue,
    /// Nothing: it could not be reached, or failed.
    Unknown,
}

/// No turn came up in time.
#[derive(Debug)]
pub(crate) struct NoTurn;

impl Concurrency {
    /// The most calls that can ever be under way.
    pub(crate) fn max(self) -> usize {
        match self {
            Self::Fixed(limit) => limit.get(),
            Self::Adaptive(bounds) => bounds.max.get(),
        }
    }
}

impl Limiter {
    pub(crate) fn new(concurrency: Concurrency) -> Self {
        let limit = match concurrency {
            Concurrency::Fixed(limit) => Limit::Fixed(limit.get()),
            Concurrency::Adaptive(bounds) => Limit::Adaptive(Gradient::new(bounds, Instant::now())),
        };
        Self {
            permits: Semaphore::new(limit.get()),
            n_surplus: AtomicUsize::new(0),
            n_waiting: AtomicUsize::new(0),
            limit: Mutex::new(limit),
        }
    }

    /// Waits for a turn, for `patience` at the most; `None`: for ever.
    pub(crate) async fn turn(&self, patience: Option<Duration>) -> Result<Turn<'_>, NoTurn> {
        let permit = match self.permits.try_acquire() {
            Ok(permit) => permit,
            Err(_) => self.wait(patience).await?,
        };
        Ok(Turn {
            limiter: self,
            permit: Some(permit),
            started: Instant::now(),
            was_last: self.permits.available_permits() == 0,
        })
    }

    async fn wait(&self, patience: Option<Duration>) -> Result<SemaphorePermit<'_>, NoTurn> {
        let _counted = Waiting::new(&self.n_waiting);
        let acquiring = self.permits.acquire();
        let permit = match patience {
            Some(patience) => timeout(patience, acquiring).await.map_err(|_| NoTurn)?,
            None => acquiring.await,
        };
        Ok(permit.expect("the semaphore is never closed"))
    }

    /// Calls that may be under way now.
    pub(crate) fn limit(&self) -> usize {
        self.lock().get()
    }

    /// Calls that wait for their turn now.
    pub(crate) fn n_waiting(&self) -> usize {
        self.n_waiting.load(Ordering::Relaxed)
    }

    fn learn(&self, method: Method, started: Instant, was_last: bool, load: Load) {
        let mut limit = self.lock();
        let Limit::Adaptive(gradient) = &mut *limit else {
            return;
        };
        let before = gradient.limit();
        let now = Instant::now();
        match load {
            Load::Answered if was_last => gradient.answered(method, started, now),
            Load::Refused => gradient.refused(started, now),
            Load::Overdue => gradient.overdue(started, now),
            Load::Answered | Load::Unknown => {}
        }
        let after = gradient.limit();
        if after > before {
            self.add(after - before);
        } else {
            self.remove(before - after);
        }
    }

    fn add(&self, n_permits: usize) {
        let n_owed = self.n_surplus.load(Ordering::Relaxed).min(n_permits);
        self.n_surplus.fetch_sub(n_owed, Ordering::Relaxed);
        self.permits.add_permits(n_permits - n_owed);
    }

    fn remove(&self, n_permits: usize) {
        let n_forgotten = self.permits.forget_permits(n_permits);
        self.n_surplus
            .fetch_add(n_permits - n_forgotten, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Limit> {
        // What is inside is valid after each of its methods.
        self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Limit {
    fn get(&self) -> usize {
        match self {
            Self::Fixed(limit) => *limit,
            Self::Adaptive(gradient) => gradient.limit(),
        }
    }
}

impl Turn<'_> {
    /// Gives the turn back with what it taught.
    pub(crate) fn end(self, method: Method, load: Load) {
        self.limiter.learn(method, self.started, self.was_last, load);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        let surplus = &self.limiter.n_surplus;
        let one_less = |n: usize| n.checked_sub(1);
        if surplus
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .is_ok()
        {
            permit.forget();
        }
    }
}

/// Counts itself while it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
