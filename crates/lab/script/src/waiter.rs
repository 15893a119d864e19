//! One future that waits for another.

use std::{
    cell::RefCell,
    task::{Context, Waker},
};

/// The one that waits, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Waiter(RefCell<Option<Waker>>);

impl Waiter {
    /// The future that is being polled waits from now on, until it is woken.
    pub(crate) fn register(&self, cx: &Context<'_>) {
        self.0.replace(Some(cx.waker().clone()));
    }

    /// Wakes the one that waits.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.0.take() {
            waker.wake();
        }
    }
}
