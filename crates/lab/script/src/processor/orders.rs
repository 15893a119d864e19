//! The orders of a thread's users to its module, on the way to the stack of the module.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use plimsoll_scenario::artillery::hooks::{Call, Introduction, Returned};
use tokio::sync::oneshot;

/// A user; also the owner of its timers. Counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct GuestId(pub(super) u32);

/// A call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallId(pub(super) u32);

/// The end of a call.
pub(super) type Outcome = Result<Returned, String>;

/// An order.
pub(super) enum Order {
    Enter(GuestId, Introduction),
    Call {
        id: CallId,
        guest: GuestId,
        call: Call,
        reply: oneshot::Sender<Outcome>,
    },
    /// The call's caller has stopped waiting for it.
    Forget(CallId),
    Leave(GuestId),
}

/// The orders, oldest first. A user gives one of each kind and as many calls as it waits for, so there are no more than
/// users need.
#[derive(Default)]
pub(super) struct Orders {
    queue: RefCell<VecDeque<Order>>,
    waker: RefCell<Option<Waker>>,
    last_id: Cell<u32>,
    /// Since when a function computes.
    computing_since: Cell<Option<Instant>>,
}

impl Orders {
    pub(super) fn new_id(&self) -> u32 {
        let id = self.last_id.get().wrapping_add(1).max(1);
        self.last_id.set(id);
        id
    }

    pub(super) fn give(&self, order: Order) {
        self.queue.borrow_mut().push_back(order);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    pub(super) fn poll_take(&self, cx: &Context<'_>) -> Poll<Order> {
        if let Some(order) = self.queue.borrow_mut().pop_front() {
            return Poll::Ready(order);
        }
        self.waker.replace(Some(cx.waker().clone()));
        Poll::Pending
    }

    pub(super) fn begin_computing(&self) {
        self.computing_since.set(Some(Instant::now()));
    }

    pub(super) fn end_computing(&self) {
        self.computing_since.set(None);
    }

    /// Whether functions have computed for longer than `most`, so that they have to be interrupted.
    pub(super) fn computes_too_long(&self, most: Duration) -> bool {
        let since = self.computing_since.get();
        since.is_some_and(|since| since.elapsed() > most)
    }

    /// Drops all orders that will not be carried out.
    pub(super) fn close(&self) {
        self.queue.take();
    }
}
