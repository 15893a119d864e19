//! Waiting for a moment to the microsecond.
//!
//! The runtime's timers have a grain of a millisecond, and a request that starts a millisecond late shows a millisecond
//! that the server did not take. So each worker has a timer of the kernel (`timerfd`), which fires on time.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    io,
    os::fd::OwnedFd,
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::{Interest, unix::AsyncFd};

/// Wakes the lanes of one worker when their requests are due.
#[derive(Debug)]
pub(crate) struct Pacer {
    timer: AsyncFd<OwnedFd>,
    /// Who waits, in the order of the times: the lanes of a worker claim ascending ones. At most one entry per lane.
    waiting: RefCell<VecDeque<(Instant, Waker)>>,
    is_stopped: Cell<bool>,
}

impl Pacer {
    /// Needs the runtime that will run [`Self::run`].
    ///
    /// # Errors
    /// The system has no more files for us.
    pub(crate) fn new() -> io::Result<Self> {
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
            is_stopped: Cell::new(false),
        })
    }

    /// Waits until `due`; false when the run ended before.
    pub(crate) async fn until(&self, due: Instant) -> bool {
        let mut is_waiting = false;
        poll_fn(|cx| {
            let now = Instant::now();
            if now >= due {
                return Poll::Ready(true);
            }
            if self.is_stopped.get() {
                return Poll::Ready(false);
            }
            if !is_waiting {
                is_waiting = true;
                let mut waiting = self.waiting.borrow_mut();
                waiting.push_back((due, cx.waker().clone()));
                if waiting.len() == 1 {
                    self.arm(due - now);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Nobody waits any longer.
    pub(crate) fn stop(&self) {
        self.is_stopped.set(true);
        self.waiting
            .borrow_mut()
            .drain(..)
            .for_each(|(_, waker)| waker.wake());
    }

    /// Serves those who wait; never ends.
    pub(crate) async fn run(&self) {
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
        while let Some((due, _)) = waiting.front() {
            if *due > now {
                self.arm(*due - now);
                return;
            }
            if let Some((_, waker)) = waiting.pop_front() {
                waker.wake();
            }
        }
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

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::pin, task::Context};

    use super::*;

    #[tokio::test]
    async fn those_who_are_due_are_woken_and_no_others() {
        let pacer = Pacer::new().unwrap();
        let now = Instant::now();
        let (mut soon, mut late) = (
            pin!(pacer.until(now + Duration::from_millis(2))),
            pin!(pacer.until(now + Duration::from_secs(3600))),
        );
        let mut nobody = Context::from_waker(Waker::noop());
        assert!(late.as_mut().poll(&mut nobody).is_pending());
        pacer.waiting.borrow_mut().clear();
        assert!(soon.as_mut().poll(&mut nobody).is_pending());
        tokio::select! {
            is_due = soon => assert!(is_due),
            () = pacer.run() => unreachable!("it never ends"),
        }
        assert!(Instant::now() >= now + Duration::from_millis(2));
        assert!(late.as_mut().poll(&mut nobody).is_pending());
        pacer.stop();
        assert_eq!(late.as_mut().poll(&mut nobody), Poll::Ready(false));
    }
}
