//! What a script waits for beside its blocking calls: timers, sockets and promises of the host.
//!
//! Two kinds. An *event* ends in a callback into the script, and an iteration lasts until none is pending. A
//! *background* future keeps a native client going (a socket that reads while the script sleeps); it never enters the
//! script and ends with the iteration.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{
    StreamExt as _,
    future::{AbortHandle, Abortable, Aborted},
    stream::FuturesUnordered,
};
use rquickjs::Ctx;

/// Runs on the script's stack when an event has happened.
pub(crate) type Callback = Box<dyn for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<()>>;

type Event = Pin<Box<dyn Future<Output = (EventId, Callback)>>>;
type BackgroundFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Names a pending event; what `setTimeout` returns. Counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EventId(pub(crate) u32);

/// The largest number of pending events in one virtual user. Reason: it is far beyond the need of working scripts,
/// and keeps a script that starts timers in a loop from taking all memory. [`Events::push`] refuses further events.
pub(crate) const MAX_EVENTS: usize = 100_000;

/// There are [`MAX_EVENTS`] pending events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_EVENTS} timers and requests are already pending; wait for some of them first")]
pub(crate) struct TooManyEvents;

/// The events of one runtime: of one virtual user, or of several that share it, each of which owns some.
#[derive(Default)]
pub(crate) struct Events {
    pending: RefCell<FuturesUnordered<Abortable<Event>>>,
    /// The events that were pushed since the last poll: a poll must be able to push.
    added: RefCell<Vec<Abortable<Event>>>,
    handles: RefCell<HashMap<EventId, Handle>>,
    last_id: Cell<u32>,
    /// The owner of the running code; 0 where all code has one owner.
    owner: Cell<u32>,
    /// The number of pending events by owner; without 0.
    n_of_owner: RefCell<HashMap<u32, u32>>,
}

/// A pending event.
struct Handle {
    abort: AbortHandle,
    owner: u32,
}

impl Events {
    /// `callback` of the future's output will be run once the future is ready.
    ///
    /// # Errors
    /// When too many are pending.
    pub(crate) fn push(
        &self,
        event: impl Future<Output = Callback> + 'static,
    ) -> Result<EventId, TooManyEvents> {
        let id = self.new_id();
        self.push_as(id, event)?;
        Ok(id)
    }

    /// An id that nothing has yet.
    pub(crate) fn new_id(&self) -> EventId {
        let id = EventId(self.last_id.get().wrapping_add(1));
        self.last_id.set(id.0);
        id
    }

    /// As [`Self::push`], under an id that has no pending event: for what happens again and again.
    ///
    /// # Errors
    /// When too many are pending.
    pub(crate) fn push_as(
        &self,
        id: EventId,
        event: impl Future<Output = Callback> + 'static,
    ) -> Result<(), TooManyEvents> {
        if self.handles.borrow().len() >= MAX_EVENTS {
            return Err(TooManyEvents);
        }
        let (handle, registration) = AbortHandle::new_pair();
        let event: Event = Box::pin(async move { (id, event.await) });
        self.added.borrow_mut().push(Abortable::new(event, registration));
        let owner = self.owner.get();
        let abort = handle;
        self.handles.borrow_mut().insert(id, Handle { abort, owner });
        if owner != 0 {
            *self.n_of_owner.borrow_mut().entry(owner).or_default() += 1;
        }
        Ok(())
    }

    /// Makes `owner` the owner of further pushed events, until an event of another owner has happened.
    pub(crate) fn set_owner(&self, owner: u32) {
        self.owner.set(owner);
    }

    /// The owner of the running code.
    pub(crate) fn owner(&self) -> u32 {
        self.owner.get()
    }

    /// Whether events of this owner are pending.
    pub(crate) fn has_of(&self, owner: u32) -> bool {
        self.n_of_owner.borrow().contains_key(&owner)
    }

    /// Takes away all events of an owner.
    pub(crate) fn cancel_of(&self, owner: u32) {
        if self.n_of_owner.borrow_mut().remove(&owner).is_none() {
            return;
        }
        self.handles.borrow_mut().retain(|_, handle| {
            let stays = handle.owner != owner;
            if !stays {
                handle.abort.abort();
            }
            stays
        });
    }

    /// Takes an event out of the books.
    fn settle(&self, id: EventId) -> Option<Handle> {
        let handle = self.handles.borrow_mut().remove(&id)?;
        let mut n_of_owner = self.n_of_owner.borrow_mut();
        if let Some(n) = n_of_owner.get_mut(&handle.owner) {
            *n -= 1;
            if *n == 0 {
                n_of_owner.remove(&handle.owner);
            }
        }
        Some(handle)
    }

    /// Takes an event away; one that has happened or never was is not an error.
    pub(crate) fn cancel(&self, id: EventId) {
        if let Some(handle) = self.settle(id) {
            handle.abort.abort();
        }
    }

    /// Whether nothing is pending.
    pub(crate) fn is_empty(&self) -> bool {
        self.handles.borrow().is_empty()
    }

    /// The next event that happens; `None` when nothing is pending.
    pub(crate) async fn next(&self) -> Option<Callback> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.handles.borrow_mut().clear();
        self.n_of_owner.borrow_mut().clear();
        self.added.borrow_mut().clear();
        // Most iterations have none, and an empty set is made anew with two allocations.
        if !self.pending.borrow().is_empty() {
            drop(self.pending.take());
        }
    }

    /// Polls like [`Self::next`], for a future that also waits for something else.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Callback>> {
        loop {
            if self.is_empty() {
                return Poll::Ready(None);
            }
            let added = std::mem::take(&mut *self.added.borrow_mut());
            let mut pending = self.pending.borrow_mut();
            pending.extend(added);
            match pending.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok((id, callback)))) => {
                    if let Some(handle) = self.settle(id) {
                        self.owner.set(handle.owner);
                    }
                    return Poll::Ready(Some(callback));
                }
                Poll::Ready(Some(Err(Aborted))) => {}
                Poll::Ready(None) | Poll::Pending => {
                    if self.added.borrow().is_empty() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

/// The background futures of one virtual user.
#[derive(Default)]
pub(crate) struct Background {
    running: RefCell<FuturesUnordered<BackgroundFuture>>,
    added: RefCell<Vec<BackgroundFuture>>,
}

impl Background {
    /// `future` is polled whenever the script waits, until it is ready or the iteration ends.
    pub(crate) fn push(&self, future: impl Future<Output = ()> + 'static) {
        self.added.borrow_mut().push(Box::pin(future));
    }

    /// Drops them all: sockets close.
    pub(crate) fn clear(&self) {
        self.added.borrow_mut().clear();
        // As for events.
        if !self.running.borrow().is_empty() {
            drop(self.running.take());
        }
    }

    /// Lets each that was woken go on.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) {
        loop {
            let added = std::mem::take(&mut *self.added.borrow_mut());
            let mut running = self.running.borrow_mut();
            if running.is_empty() && added.is_empty() {
                return;
            }
            running.extend(added);
            while let Poll::Ready(Some(())) = running.poll_next_unpin(cx) {}
            if self.added.borrow().is_empty() {
                return;
            }
        }
    }
}
