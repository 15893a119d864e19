//! Limits how many calls are in progress at the same time, and decides which call gets the next free turn.

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

/// Grants turns, in the order of [`Line`].
pub(crate) struct Limiter(Arc<Shared>);

struct Shared {
    /// Waiting calls that have not given up.
    n_waiting: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    limit: Limit,
    /// Granted turns. For a while after the limit was lowered there are more than the limit.
    n_under_way: usize,
    line: Line<oneshot::Sender<Turn>>,
}

enum Limit {
    Fixed(usize),
    Adaptive(Gradient),
}

/// The right to one attempt. Its drop returns it, and says nothing about the application.
pub(crate) struct Turn {
    shared: Arc<Shared>,
    started: Instant,
    /// Whether it was the last free turn.
    was_last: bool,
    /// The attempt's result, for the limit.
    lesson: Option<(Method, Load)>,
}

/// Turns on their way to waiting calls. There is one at a time, unless the limit has grown.
type Granted = SmallVec<[(oneshot::Sender<Turn>, Turn); 1]>;

/// What an attempt showed about the application's load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// The application answered. The time it took counts.
    Answered,
    /// The application had no free worker.
    Refused,
    /// The application did not answer in time.
    Overdue,
    /// Nothing: the application could not be reached, or failed.
    Unknown,
}

/// No turn became free in time.
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

    /// Waits for a turn, for at most `patience`. `None`: without a limit.
    pub(crate) async fn turn(&self, rank: Rank, patience: Option<Duration>) -> Result<Turn, NoTurn> {
        let Self(shared) = self;
        let (waiting, granted) = {
            let mut state = shared.lock();
            // The line is empty in this case, because free turns are granted at once.
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

    /// The current limit of calls in progress.
    pub(crate) fn limit(&self) -> usize {
        self.0.lock().limit.get()
    }

    /// The number of calls that wait for a turn.
    pub(crate) fn n_waiting(&self) -> usize {
        self.0.n_waiting.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each method leaves the state valid, so a poisoned lock is harmless.
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

    /// Grants the free turns to the first calls in line. The turns are sent after the lock is released, because a turn
    /// whose receiver is gone comes back at once.
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

    /// Clears the line when most of its calls have given up. They would otherwise stay until their turn, which may
    /// never come.
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
    /// Returns the turn with the attempt's result.
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
            // Returned if the call gave up at this moment.
            drop(waiting.send(turn));
        }
    }
}

/// A waiting call. It counts while it lives.
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
