//! The state that the handles of a session and its reader share.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt,
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll, ready},
    time::Instant,
};

use plimsoll_cable::command::encode_pong;

use super::{
    Channel, Ending, Resumption, Totals, event::Events, link::Link, positions::Positions,
    state::ChannelState, waiters::Waiters,
};
use crate::{cable::opening::Welcome, websocket::Connection};

pub(super) struct Shared {
    pub(super) link: RefCell<Link>,
    pub(super) channels: RefCell<HashMap<Rc<str>, Rc<ChannelState>>>,
    pub(super) events: RefCell<Events>,
    pub(super) waiters: Waiters,
    /// The positions of an earlier session, and the subscriptions that the server has restored and the script has not
    /// asked for yet.
    pub(super) earlier: RefCell<Resumption>,
    pub(super) sid: Option<Box<str>>,
    pub(super) is_restored: bool,
    pub(super) totals: Cell<Totals>,
    /// Whether an inbox has become full since the last check.
    may_be_full: Cell<bool>,
    is_stalled: Cell<bool>,
    pub(super) owes_pong: Cell<bool>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("link", &self.link)
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(connection: Connection, welcome: Welcome, resumption: Option<Resumption>) -> Self {
        let is_restored = welcome.restored.is_some();
        let live = welcome.restored.unwrap_or_default();
        let earlier = resumption.unwrap_or_default().with_live(live);
        Self {
            link: RefCell::new(Link::new(connection)),
            channels: RefCell::default(),
            events: RefCell::default(),
            waiters: Waiters::default(),
            sid: welcome.sid.map(String::into_boxed_str),
            is_restored,
            earlier: RefCell::new(earlier),
            totals: Cell::default(),
            may_be_full: Cell::new(false),
            is_stalled: Cell::new(false),
            owes_pong: Cell::new(false),
        }
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Totals)) {
        let mut totals = self.totals.get();
        count(&mut totals);
        self.totals.set(totals);
    }

    pub(super) fn register(self: &Rc<Self>, state: ChannelState) -> Channel {
        let state = Rc::new(state);
        let identifier = state.identifier();
        self.channels.borrow_mut().insert(identifier, Rc::clone(&state));
        Channel::new(Rc::clone(self), state)
    }

    /// The subscription that the server has restored, once.
    pub(super) fn restored(&self, identifier: &str) -> Option<ChannelState> {
        self.earlier.borrow_mut().take(identifier)
    }

    /// The positions of a subscription of an earlier session that the server has not restored; empty without any.
    pub(super) fn earlier_positions(&self, identifier: &str) -> Positions {
        self.earlier.borrow().positions_of(identifier)
    }

    /// Sends one command and waits until the socket has taken it. Returns the instant right before the write.
    pub(super) async fn send(&self, command: &str) -> Result<Instant, Ending> {
        self.flushed().await?;
        let at = Instant::now();
        self.link.borrow_mut().queue(command)?;
        self.count(|totals| totals.n_commands += 1);
        self.flushed().await?;
        Ok(at)
    }

    pub(super) async fn flushed(&self) -> Result<(), Ending> {
        poll_fn(|cx| {
            let flushed = self.link.borrow_mut().poll_flush(cx);
            if flushed.is_pending() {
                self.waiters.register(cx);
            }
            flushed
        })
        .await
    }

    /// Waits until `look` returns a value. It is called again whenever the reader has dispatched a message.
    pub(super) async fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        poll_fn(|cx| match look() {
            Some(seen) => Poll::Ready(seen),
            None => {
                self.waiters.register(cx);
                Poll::Pending
            }
        })
        .await
    }

    /// Records that an inbox or the queue of events has become full.
    pub(super) fn note_full(&self, is_full: bool) {
        if is_full {
            self.may_be_full.set(true);
        }
    }

    /// Records that a message was taken from an inbox. A reader that waits for room checks again.
    pub(super) fn make_room(&self) {
        if self.is_stalled.get() {
            self.waiters.wake_all();
        }
    }

    /// Reads once, or finds that there is no room for more messages.
    pub(super) fn poll_read(&self, cx: &mut Context<'_>) -> Poll<Result<(), Ending>> {
        self.waiters.register(cx);
        let must_stall = self.must_stall();
        let route = |at, json: &str| self.route(at, json);
        let (read, was_flushed) = self.link.borrow_mut().poll_receive(cx, must_stall, route);
        if was_flushed {
            self.waiters.wake_all();
        }
        self.answer_ping(cx)?;
        let outcome = ready!(read);
        self.waiters.wake_all();
        Poll::Ready(outcome)
    }

    fn must_stall(&self) -> bool {
        if !self.may_be_full.get() {
            return false;
        }
        let is_full = self.events.borrow().is_full()
            || self.channels.borrow().values().any(|channel| channel.is_full());
        self.may_be_full.set(is_full);
        if is_full && !self.is_stalled.get() {
            self.count(|totals| totals.n_stalls += 1);
        }
        self.is_stalled.set(is_full);
        is_full
    }

    /// Answers a ping. A pong waits for its turn, because any other message being sent shows the server that this
    /// client is alive.
    fn answer_ping(&self, cx: &mut Context<'_>) -> Result<(), Ending> {
        let mut link = self.link.borrow_mut();
        if self.owes_pong.get() && link.dialect.is_extended && link.poll_flush(cx)?.is_ready() {
            self.owes_pong.set(false);
            link.queue(&encode_pong())?;
            let _ = link.poll_flush(cx)?;
        }
        Ok(())
    }
}
