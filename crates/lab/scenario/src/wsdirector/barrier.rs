//! `wait_all`: a point that no client passes before all clients of all groups have arrived.
//!
//! Clients live on several threads. A waiting client sleeps until the last one arrives, until one is known never to
//! arrive, or until none has arrived for the timeout: with thousands of clients the last may arrive long after the
//! first, and only a standstill is a failure.
//!
//! Only one client of a thread, its *scout*, waits for other threads, and then wakes the rest. Reason: a `LocalSet`
//! checks tasks that were woken by another thread only once in 31 turns. With thousands of them, the first would be
//! busy with messages that the others have yet to cause.

use std::{
    cell::RefCell,
    fmt,
    rc::Rc,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// One barrier, which all `wait_all` of a scenario use one after another.
#[derive(Debug)]
pub(super) struct Barrier {
    /// Clients by group.
    groups: Vec<Attendance>,
    timeout: Duration,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    /// The number of passages.
    n_passed: u64,
    /// Who waits now, by group.
    waiting: Vec<u32>,
    last_arrival: Instant,
    /// Why no client will ever pass again. The first reason stays.
    broken: Option<Missing>,
}

/// The number of clients of a group, and how many have arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attendance {
    pub(super) group: String,
    pub(super) n_clients: u32,
    pub(super) n_waiting: u32,
}

/// Why a barrier does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// No client arrived for this long.
    TimedOut {
        timeout: Duration,
        attendance: Vec<Attendance>,
    },
    /// A client of this group failed before.
    Lost { group: String },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (timeout, attendance) = match self {
            Self::Lost { group } => {
                return write!(f, "a client of group {group} failed before this step");
            }
            Self::TimedOut { timeout, attendance } => (timeout, attendance),
        };
        let sum = |of: fn(&Attendance) -> u32| attendance.iter().map(of).sum::<u32>();
        let (n_waiting, n_clients) = (sum(|group| group.n_waiting), sum(|group| group.n_clients));
        write!(
            f,
            "{n_waiting} of {n_clients} clients arrived, and no other client for {timeout:?}; missing:"
        )?;
        let missing = attendance
            .iter()
            .filter(|group| group.n_waiting < group.n_clients);
        for (position, group) in missing.enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let n_missing = group.n_clients - group.n_waiting;
            write!(
                f,
                "{comma} {n_missing} of {} of group {}",
                group.n_clients, group.group
            )?;
        }
        Ok(())
    }
}

impl Barrier {
    /// A barrier for groups of clients, given by name and number.
    pub(super) fn new(groups: impl IntoIterator<Item = (String, u32)>, timeout: Duration) -> Self {
        let groups: Vec<_> = groups
            .into_iter()
            .map(|(group, n_clients)| Attendance {
                group,
                n_clients,
                n_waiting: 0,
            })
            .collect();
        Self {
            state: Mutex::new(State {
                n_passed: 0,
                waiting: vec![0; groups.len()],
                last_arrival: Instant::now(),
                broken: None,
            }),
            groups,
            timeout,
            changed: Notify::new(),
        }
    }

    /// Waits until all are there; `group` is the position of the client's own.
    ///
    /// # Errors
    /// Who is missing.
    pub(super) async fn wait(&self, group: usize) -> Result<(), Missing> {
        let Some(passage) = self.arrive(group)? else {
            return Ok(());
        };
        let mut camper = Camper::at(self);
        let wake = Rc::clone(&camper.woken);
        loop {
            camper.volunteer();
            let mut woken = std::pin::pin!(wake.notified());
            let mut changed = std::pin::pin!(self.changed.notified());
            // From here on no event after the check of the state is missed.
            woken.as_mut().enable();
            changed.as_mut().enable();
            let Some(deadline) = self.look(passage)? else {
                return Ok(());
            };
            tokio::select! {
                () = woken => {}
                () = changed, if camper.is_scout => {}
                () = sleep_until(deadline) => {}
            }
        }
    }

    /// Records that a client will not arrive any more, so that the others do not wait for it.
    pub(super) fn lose(&self, group: usize) {
        let mut state = self.state();
        state.broken.get_or_insert_with(|| Missing::Lost {
            group: self.groups[group].group.clone(),
        });
        drop(state);
        self.changed.notify_waiters();
    }

    /// Counts an arriving client. Returns the passage that it waits for, or `None` if it was the last one.
    fn arrive(&self, group: usize) -> Result<Option<u64>, Missing> {
        let mut state = self.state();
        if let Some(missing) = &state.broken {
            return Err(missing.clone());
        }
        state.waiting[group] += 1;
        state.last_arrival = Instant::now();
        let mut groups = state.waiting.iter().zip(&self.groups);
        if !groups.all(|(n_waiting, group)| *n_waiting >= group.n_clients) {
            return Ok(Some(state.n_passed));
        }
        state.n_passed += 1;
        state.waiting.fill(0);
        drop(state);
        self.changed.notify_waiters();
        Ok(None)
    }

    /// The deadline of the wait for the passage after `passage`. `None` if it is open.
    fn look(&self, passage: u64) -> Result<Option<Instant>, Missing> {
        let mut state = self.state();
        if state.n_passed > passage {
            return Ok(None);
        }
        if let Some(missing) = &state.broken {
            return Err(missing.clone());
        }
        let deadline = state.last_arrival + self.timeout;
        if Instant::now() < deadline {
            return Ok(Some(deadline));
        }
        let groups = self.groups.iter().zip(&state.waiting);
        let missing = Missing::TimedOut {
            timeout: self.timeout,
            attendance: groups
                .map(|(group, n_waiting)| Attendance {
                    n_waiting: *n_waiting,
                    ..group.clone()
                })
                .collect(),
        };
        state.broken = Some(missing.clone());
        Err(missing)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held, and each change leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    static GROUND: RefCell<Ground> = RefCell::default();
}

/// The common state of the waiting clients of one thread.
#[derive(Debug, Default)]
struct Ground {
    /// The address of their barrier.
    of: usize,
    woken: Rc<Notify>,
    has_scout: bool,
}

/// A waiting client among those of its thread.
struct Camper {
    of: usize,
    woken: Rc<Notify>,
    is_scout: bool,
}

impl Camper {
    fn at(barrier: &Barrier) -> Self {
        let of = std::ptr::from_ref(barrier).addr();
        GROUND.with_borrow_mut(|ground| {
            if ground.of != of {
                *ground = Ground {
                    of,
                    ..Ground::default()
                };
            }
            Self {
                of,
                woken: Rc::clone(&ground.woken),
                is_scout: false,
            }
        })
    }

    /// Becomes the scout, unless another client is it.
    fn volunteer(&mut self) {
        if !self.is_scout {
            self.is_scout = GROUND.with_borrow_mut(|ground| {
                ground.of == self.of && !std::mem::replace(&mut ground.has_scout, true)
            });
        }
    }
}

impl Drop for Camper {
    fn drop(&mut self) {
        if self.is_scout {
            GROUND.with_borrow_mut(|ground| ground.has_scout &= ground.of != self.of);
            // They see its result, or that another one has to become the scout.
            self.woken.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn barrier() -> Arc<Barrier> {
        let groups = [("publisher".to_owned(), 1), ("listener".to_owned(), 2)];
        Arc::new(Barrier::new(groups, 5 * SECOND))
    }

    /// When a client of `group` that arrives after `delay` passes, and how.
    async fn passes(barrier: Arc<Barrier>, group: usize, delay: Duration) -> (Duration, String) {
        let start = Instant::now();
        tokio::time::sleep(delay).await;
        let outcome = barrier.wait(group).await;
        let told = outcome.map_or_else(|missing| missing.to_string(), |()| "passed".to_owned());
        (start.elapsed(), told)
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_passes_before_the_last_one_comes() {
        let barrier = barrier();
        for _ in 0..3 {
            // The last one arrives later than the timeout after the first, but others arrived in between.
            let [first, second, last] = [(1, 0), (0, 4), (1, 8)]
                .map(|(group, delay)| passes(Arc::clone(&barrier), group, delay * SECOND));
            let outcomes: [_; 3] = tokio::join!(first, second, last).into();
            assert_eq!(outcomes, [0; 3].map(|_| (8 * SECOND, "passed".to_owned())));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_standstill_says_who_is_missing() {
        let barrier = barrier();
        let (first, second) = tokio::join!(
            passes(Arc::clone(&barrier), 1, Duration::ZERO),
            passes(Arc::clone(&barrier), 1, 3 * SECOND)
        );
        let told = "2 of 3 clients arrived, and no other client for 5s; missing: 1 of 1 of group publisher";
        assert_eq!(first, (8 * SECOND, told.to_owned()));
        assert_eq!(second, (8 * SECOND, told.to_owned()));
        // A late client fails at once, with the same words.
        let late = passes(barrier, 0, Duration::ZERO).await;
        assert_eq!(late, (Duration::ZERO, told.to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_client_that_failed() {
        let barrier = barrier();
        let lose = async {
            tokio::time::sleep(SECOND).await;
            barrier.lose(0);
        };
        let (outcome, ()) = tokio::join!(passes(Arc::clone(&barrier), 1, Duration::ZERO), lose);
        let told = "a client of group publisher failed before this step";
        assert_eq!(outcome, (SECOND, told.to_owned()));
    }

    #[test]
    fn threads_meet() {
        let n_threads = 4;
        let groups = [("all".to_owned(), n_threads * 50)];
        let barrier = Arc::new(Barrier::new(groups, 60 * SECOND));
        let threads = (0..n_threads).map(|_| {
            let barrier = Arc::clone(&barrier);
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_time()
                    .build();
                runtime.unwrap().block_on(async {
                    let clients = (0..50).map(|_| async {
                        for _ in 0..20 {
                            barrier.wait(0).await.unwrap();
                        }
                    });
                    futures_util::future::join_all(clients).await;
                });
            })
        });
        let threads: Vec<_> = threads.collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(barrier.state().n_passed, 20);
    }
}
