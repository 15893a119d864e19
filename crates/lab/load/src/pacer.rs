//! Waiting for a moment to the microsecond.
//!
//! The runtime's timers have a grain of a millisecond, and an iteration that starts a millisecond late shows a millisecond
//! that the target did not take. So each worker has a timer of the kernel (`timerfd`), which fires on time.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::Future,
    io,
    os::fd::OwnedFd,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::{Interest, unix::AsyncFd};

/// Wakes the tasks of one worker at moments of their own.
#[derive(Debug)]
pub struct Pacer {
    timer: AsyncFd<OwnedFd>,
    /// The tasks that wait, the next one first. At most one entry for each [`Until`] that is alive.
    waiting: RefCell<BTreeMap<Place, Waker>>,
    n_made: Cell<u64>,
    is_stopped: Cell<bool>,
}

/// When a task is due, and a number that tells it from others of that moment.
type Place = (Instant, u64);

impl Pacer {
    /// Needs the runtime that will run [`Self::run`].
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        #[expect(
            deprecated,
            reason = "what replaces it is unsafe because of types whose descriptor changes; an OwnedFd keeps its own"
        )]
        let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
        Ok(Self {
            timer,
            waiting: RefCell::default(),
            n_made: Cell::new(0),
            is_stopped: Cell::new(false),
        })
    }

    /// Waits until `due`. The result is false if [`Self::stop`] came first.
    pub fn until(&self, due: Instant) -> Until<'_> {
        let n = self.n_made.get();
        self.n_made.set(n + 1);
        Until {
            pacer: self,
            place: (due, n),
            is_waiting: false,
        }
    }

    /// Ends all waits, those to come included.
    pub fn stop(&self) {
        self.is_stopped.set(true);
        self.waiting.borrow().values().for_each(Waker::wake_by_ref);
    }

    /// Wakes the tasks that are due, and never ends: a task of the worker's own.
    pub async fn run(&self) {
        loop {
            match self.timer.readable().await {
                Ok(mut guard) => guard.clear_ready(),
                // Only when the runtime is going down.
                Err(_) => return,
            }
            self.wake_due(Instant::now());
        }
    }

    fn wake_due(&self, now: Instant) {
        let mut waiting = self.waiting.borrow_mut();
        while let Some(first) = waiting.first_entry() {
            let (due, _) = *first.key();
            if due > now {
                return self.arm(due - now);
            }
            first.remove().wake();
        }
    }

    /// Notes that a task waits, and brings the timer forward if it is due before all others.
    fn wait(&self, place: Place, wait: Duration, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.first_key_value().is_none_or(|(first, _)| place < *first) {
            self.arm(wait);
        }
        waiting.insert(place, waker.clone());
    }

    /// Fires once, after `wait`.
    fn arm(&self, wait: Duration) {
        let value = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
                // Zero would disarm it.
                tv_nsec: i64::from(wait.subsec_nanos().max(1)),
            },
        };
        // It fails only for what is no timer or no time.
        let _ = timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::empty(), &value);
    }
}

/// A wait for one moment; see [`Pacer::until`].
#[derive(Debug)]
#[must_use = "it waits only when it is awaited"]
pub struct Until<'a> {
    pacer: &'a Pacer,
    place: Place,
    is_waiting: bool,
}

impl Future for Until<'_> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        let (pacer, (due, _)) = (self.pacer, self.place);
        let wait = due.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            return Poll::Ready(true);
        }
        if pacer.is_stopped.get() {
            return Poll::Ready(false);
        }
        // Also when it waits already: the timer may have fired a little early, and the task may have moved.
        pacer.wait(self.place, wait, cx.waker());
        self.is_waiting = true;
        Poll::Pending
    }
}

impl Drop for Until<'_> {
    fn drop(&mut self) {
        if self.is_waiting {
            self.pacer.waiting.borrow_mut().remove(&self.place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn tasks_that_are_due_are_woken_and_no_others() {
        let pacer = Pacer::new().unwrap();
        let now = Instant::now();
        let mut unwoken = Context::from_waker(Waker::noop());
        let mut late = pin!(pacer.until(now + HOUR));
        assert!(late.as_mut().poll(&mut unwoken).is_pending());
        // Due before the other, though it asked later.
        let soon = now + Duration::from_millis(2);
        tokio::select! {
            is_due = pacer.until(soon) => assert!(is_due),
            () = pacer.run() => unreachable!("it never ends"),
        }
        assert!(Instant::now() >= soon);
        assert!(late.as_mut().poll(&mut unwoken).is_pending());
        pacer.stop();
        assert_eq!(late.as_mut().poll(&mut unwoken), Poll::Ready(false));
        assert_eq!(
            pin!(pacer.until(now)).poll(&mut unwoken),
            Poll::Ready(true),
            "what is due needs no timer"
        );
    }

    #[tokio::test]
    async fn waits_that_are_given_up_leave_nothing() {
        let pacer = Pacer::new().unwrap();
        let due = Instant::now() + HOUR;
        let mut unwoken = Context::from_waker(Waker::noop());
        {
            let (mut one, mut other) = (pin!(pacer.until(due)), pin!(pacer.until(due)));
            assert!(one.as_mut().poll(&mut unwoken).is_pending());
            assert!(one.as_mut().poll(&mut unwoken).is_pending());
            assert!(other.as_mut().poll(&mut unwoken).is_pending());
            assert_eq!(pacer.waiting.borrow().len(), 2);
        }
        assert_eq!(pacer.waiting.borrow().len(), 0);
    }
}
