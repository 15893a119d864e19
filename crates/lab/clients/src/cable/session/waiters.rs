//! Futures that wait for events in a session.

use std::{
    cell::RefCell,
    task::{Context, Waker},
};

/// Wakers, each once. So there are at most as many as tasks that use the session, which is nearly always one.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    wakers: RefCell<Vec<Waker>>,
}

impl Waiters {
    /// Wakes the task of `cx` at the next [`Self::wake_all`].
    pub(super) fn register(&self, cx: &Context<'_>) {
        let mut wakers = self.wakers.borrow_mut();
        if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            wakers.push(cx.waker().clone());
        }
    }

    pub(super) fn wake_all(&self) {
        let woken = std::mem::take(&mut *self.wakers.borrow_mut());
        woken.into_iter().for_each(Waker::wake);
    }
}
