//! How many calls may be under way at the same time, and who gets the next free turn.

mod concurrency;
mod gradient;
mod line;
#[cfg(test)]
mod simulation;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use smallvec::SmallVec;
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};

pub use self::concurrency::{Bounds, Concurrency};
pub(crate) use self::line::Rank;
use self::{gradient::Gradient, line::Line};
use crate::proto::Method;

/// Hands out turns, in the order of [`Line`].
pub(crate) struct Limiter(Arc<Shared>);

struct Shared {
    /// Calls that wait and have not given up.
    n_waiting: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    limit: Limit,
    /// Turns that are out. More than the limit, for a while after it was lowered.
    n_under_way: usize,
    line: Line<oneshot::Sender<Turn>>,
}

enum Limit {
    Fixed(usize),
    Adaptive(Gradient),
}

/// The right to one attempt. Dropping it gives it back, and says nothing about the application.
pub(crate) struct Turn {
    shared: Arc<Shared>,
    started: Instant,
    /// No other call could have had a turn at that time.
    was_last: bool,
    /// What it taught.
    lesson: Option<(Method, Load)>,
}

/// Turns on their way to those who wait for them; there is one at a time, unless the limit has grown.
type Granted = SmallVec<[(oneshot::Sender<Turn>, Turn); 1]>;

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

impl Limiter {
    pub(crate) fn new(concurrency: Concurrency) -> Self {
        let limit = match concurrency {
            Concurrency::Fixed(limit) => Limit::Fixed(limit.get()),
            Concurrency::Adaptive(bounds) => Limit::Adaptive(Gradient::new(bounds, Instant::now())),
        };
        Self(Arc::new(Shared {
            n_waiting: AtomicUsize::new(0),
            state: Mutex::new(State {
                limit,
                n_under_way: 0,
                line: Line::new(),
            }),
        }))
    }

    /// Waits for a turn, for `patience` at the most; `None`: for ever.
    pub(crate) async fn turn(&self, rank: Rank, patience: Option<Duration>) -> Result<Turn, NoTurn> {
        let Self(shared) = self;
        let (waiting, granted) = {
            let mut state = shared.lock();
            // The line is empty then: free turns are handed out at once.
            if state.has_room() {
                return Ok(state.grant(shared));
            }
            let (sender, receiver) = oneshot::channel();
            let waiting = Waiting::new(shared);
            state.forget_those_who_gave_up(waiting.n_before);
            state.line.push(rank, sender);
            (waiting, receiver)
        };
        let turn = match patience {
            Some(patience) => timeout(patience, granted).await.map_err(|_| NoTurn)?,
            None => granted.await,
        };
        drop(waiting);
        let mut turn = turn.expect("the line lives as long as the limiter, and drops no one who waits");
        turn.started = Instant::now();
        Ok(turn)
    }

    /// Calls that may be under way now.
    pub(crate) fn limit(&self) -> usize {
        self.0.lock().limit.get()
    }

    /// Calls that wait for their turn now.
    pub(crate) fn n_waiting(&self) -> usize {
        self.0.n_waiting.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What is inside is valid after each of its methods.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.n_under_way < self.limit.get()
    }

    fn grant(&mut self, shared: &Arc<Shared>) -> Turn {
        self.n_under_way += 1;
        Turn {
            shared: Arc::clone(shared),
            started: Instant::now(),
            was_last: !self.has_room(),
            lesson: None,
        }
    }

    /// Hands the free turns to those who are first in line. They are sent when the lock is open again: one that finds
    /// its receiver gone comes back at once.
    fn hand_out(&mut self, shared: &Arc<Shared>) -> Granted {
        let mut granted = Granted::new();
        while self.has_room()
            && let Some(waiting) = self.line.pop()
        {
            if !waiting.is_closed() {
                let turn = self.grant(shared);
                granted.push((waiting, turn));
            }
        }
        granted
    }

    /// Those who gave up stay in line until it is their turn, which may be never; so the line is cleared when most of it
    /// is theirs.
    fn forget_those_who_gave_up(&mut self, n_waiting: usize) {
        const MANY: usize = 64;
        if self.line.len() > 2 * n_waiting + MANY {
            self.line.retain(|waiting| !waiting.is_closed());
        }
    }

    fn learn(&mut self, method: Method, started: Instant, was_last: bool, load: Load) {
        let Limit::Adaptive(gradient) = &mut self.limit else {
            return;
        };
        let now = Instant::now();
        match load {
            Load::Answered if was_last => gradient.answered(method, started, now),
            Load::Refused => gradient.refused(started, now),
            Load::Overdue => gradient.overdue(started, now),
            Load::Answered | Load::Unknown => {}
        }
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

impl Turn {
    /// Gives the turn back with what it taught.
    pub(crate) fn end(mut self, method: Method, load: Load) {
        self.lesson = Some((method, load));
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let granted = {
            let mut state = self.shared.lock();
            state.n_under_way -= 1;
            if let Some((method, load)) = self.lesson {
                state.learn(method, self.started, self.was_last, load);
            }
            state.hand_out(&self.shared)
        };
        for (waiting, turn) in granted {
            // Given back if it was given up in this moment.
            drop(waiting.send(turn));
        }
    }
}

/// A call that waits; counts itself while it lives.
struct Waiting<'a> {
    shared: &'a Shared,
    n_before: usize,
}

impl<'a> Waiting<'a> {
    fn new(shared: &'a Shared) -> Self {
        let n_before = shared.n_waiting.fetch_add(1, Ordering::Relaxed);
        Self { shared, n_before }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.n_waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
