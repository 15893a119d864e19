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
    future::Future,
    pin::Pin,
    rc::Rc,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_load::vu::Exchange;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// One barrier, which all `wait_all` of a scenario use one after another.
///
/// Clients of other instances take part through notes: each instance tells how many of its clients wait, and at which
/// passage. An instance opens its barrier when the notes and its own clients are all clients, or when another one has opened
/// its own, which then knew that all were there.
#[derive(Debug)]
pub(super) struct Barrier {
    /// Clients by group.
    groups: Vec<Attendance>,
    timeout: Duration,
    state: Mutex<State>,
    changed: Notify,
    /// Something to tell other instances has changed.
    news: Notify,
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
    /// The latest notes of other instances.
    others: Vec<Note>,
}

/// The state of one instance's barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    n_passed: u64,
    waiting: Vec<u32>,
    broken: Option<Missing>,
}

/// The number of clients of a group, and how many have arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attendance {
    pub(super) group: String,
    pub(super) n_clients: u32,
    pub(super) n_waiting: u32,
}

/// Why a barrier does not open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
                others: Vec::new(),
            }),
            groups,
            timeout,
            changed: Notify::new(),
            news: Notify::new(),
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
        self.tell_all();
    }

    /// Counts an arriving client. Returns the passage that it waits for, or `None` if it was the last one.
    fn arrive(&self, group: usize) -> Result<Option<u64>, Missing> {
        let mut state = self.state();
        if let Some(missing) = &state.broken {
            return Err(missing.clone());
        }
        let passage = state.n_passed;
        state.waiting[group] += 1;
        state.last_arrival = Instant::now();
        let has_opened = self.open(&mut state);
        drop(state);
        if !has_opened {
            self.news.notify_one();
            return Ok(Some(passage));
        }
        self.tell_all();
        Ok(None)
    }

    /// Opens the barrier if all clients are there.
    fn open(&self, state: &mut State) -> bool {
        let is_behind = state.others.iter().any(|other| other.n_passed > state.n_passed);
        let mut groups = self.groups.iter().enumerate();
        let has_opened = is_behind || groups.all(|(at, group)| state.n_waiting(at) >= group.n_clients);
        if has_opened {
            state.n_passed += 1;
            state.waiting.fill(0);
        }
        has_opened
    }

    /// Wakes all that wait here, and tells other instances.
    fn tell_all(&self) {
        self.changed.notify_waiters();
        self.news.notify_one();
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
        let groups = self.groups.iter().enumerate();
        let missing = Missing::TimedOut {
            timeout: self.timeout,
            attendance: groups
                .map(|(at, group)| Attendance {
                    n_waiting: state.n_waiting(at),
                    ..group.clone()
                })
                .collect(),
        };
        state.broken = Some(missing.clone());
        self.news.notify_one();
        Err(missing)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held, and each change leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The waiting clients of a group, on all instances.
    fn n_waiting(&self, group: usize) -> u32 {
        let here = self.others.iter().filter(|other| other.n_passed == self.n_passed);
        let others = here.filter_map(|other| other.waiting.get(group));
        others.fold(self.waiting[group], |sum, n| sum.saturating_add(*n))
    }
}

impl Exchange for Barrier {
    fn next_note(&self) -> Pin<Box<dyn Future<Output = String> + Send + '_>> {
        Box::pin(async {
            self.news.notified().await;
            let state = self.state();
            let note = Note {
                n_passed: state.n_passed,
                waiting: state.waiting.clone(),
                broken: state.broken.clone(),
            };
            serde_json::to_string(&note).unwrap_or_default()
        })
    }

    fn hear(&self, notes: &[String]) {
        let notes = notes
            .iter()
            .filter_map(|note| serde_json::from_str::<Note>(note).ok());
        let notes: Vec<_> = notes.collect();
        let mut state = self.state();
        if state.others != notes {
            // As far as is known here, a client has arrived.
            state.last_arrival = Instant::now();
        }
        let broken = notes.iter().find_map(|note| note.broken.clone());
        if let Some(broken) = broken {
            state.broken.get_or_insert(broken);
        }
        state.others = notes;
        let has_opened = self.open(&mut state);
        drop(state);
        self.changed.notify_waiters();
        if has_opened {
            self.news.notify_one();
        }
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
mod tests;
