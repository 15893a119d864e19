//! What waits between the script and the future that sends and receives for it.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    task::Poll,
    time::SystemTime,
};

use bytes::Bytes;
use plimsoll_clients::grpc::Status;

use super::outcome::Outcome;
use crate::waiter::Waiter;

/// A stream whose waiting messages have more bytes is not read until the script has taken some. A script that has sent
/// as much as the server has not taken waits.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// The most messages that wait for the script.
const MAX_WAITING: usize = 1000;

/// The queues of one stream.
#[derive(Default)]
pub(super) struct Queue {
    arrived: RefCell<VecDeque<Arrived>>,
    n_arrived_bytes: Cell<usize>,
    leaving: RefCell<VecDeque<Leaving>>,
    n_leaving_bytes: Cell<usize>,
    outcome: RefCell<Option<(Outcome, SystemTime)>>,
    /// The script waits for news.
    owner: Waiter,
    /// The future that receives waits for room.
    receiver: Waiter,
    /// The future that sends waits for messages.
    sender: Waiter,
    /// The script waits until messages have left.
    writer: Waiter,
}

/// A message of the server.
pub(super) struct Arrived {
    pub(super) message: Bytes,
    pub(super) at: SystemTime,
}

/// Something that the script wants to send.
pub(super) enum Leaving {
    Message(Vec<u8>),
    /// A message that cannot be sent: the stream ends with this text.
    Unusable(String),
    /// There are no more messages.
    End,
}

impl Queue {
    /// Waits until there is room for another message of the server.
    pub(super) async fn room(&self) {
        poll_fn(|cx| {
            self.receiver.register(cx);
            let is_full =
                self.arrived.borrow().len() >= MAX_WAITING || self.n_arrived_bytes.get() >= MAX_WAITING_BYTES;
            if is_full { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    pub(super) fn arrive(&self, message: Bytes) {
        self.n_arrived_bytes
            .set(self.n_arrived_bytes.get() + message.len());
        let at = SystemTime::now();
        self.arrived.borrow_mut().push_back(Arrived { message, at });
        self.owner.wake();
    }

    /// Ends the stream for the script; once.
    pub(super) fn finish(&self, outcome: Outcome) {
        self.outcome
            .borrow_mut()
            .get_or_insert((outcome, SystemTime::now()));
        self.leaving.borrow_mut().clear();
        self.n_leaving_bytes.set(0);
        self.owner.wake();
        self.writer.wake();
    }

    /// Waits until [`take`](Self::take) gives a message, or the stream has ended.
    pub(super) async fn news(self: &Rc<Self>) {
        poll_fn(|cx| {
            self.owner.register(cx);
            let has_news = !self.arrived.borrow().is_empty() || self.outcome.borrow().is_some();
            if has_news { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Takes the oldest message of the server.
    pub(super) fn take(&self) -> Option<Arrived> {
        let arrived = self.arrived.borrow_mut().pop_front()?;
        self.n_arrived_bytes
            .set(self.n_arrived_bytes.get() - arrived.message.len());
        self.receiver.wake();
        Some(arrived)
    }

    /// The end, once every message before it was taken.
    pub(super) fn outcome(&self) -> Option<(Outcome, SystemTime)> {
        let is_empty = self.arrived.borrow().is_empty();
        self.outcome.borrow().clone().filter(|_| is_empty)
    }

    /// Whether the stream has ended, even if messages before the end were not taken yet.
    pub(super) fn has_ended(&self) -> bool {
        self.outcome.borrow().is_some()
    }

    pub(super) fn leave(&self, leaving: Leaving) {
        if self.has_ended() {
            return;
        }
        self.n_leaving_bytes
            .set(self.n_leaving_bytes.get() + leaving.len());
        self.leaving.borrow_mut().push_back(leaving);
        self.sender.wake();
    }

    /// Whether the script is so far ahead of the server that it has to wait.
    pub(super) fn is_far_ahead(&self) -> bool {
        self.n_leaving_bytes.get() > MAX_WAITING_BYTES
    }

    /// Waits until the script is not far ahead any more.
    pub(super) async fn caught_up(&self) {
        poll_fn(|cx| {
            self.writer.register(cx);
            if self.is_far_ahead() {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }

    /// The next thing to send. It counts as waiting until [`left`](Self::left).
    pub(super) async fn next_leaving(&self) -> Leaving {
        poll_fn(|cx| {
            self.sender.register(cx);
            match self.leaving.borrow_mut().pop_front() {
                Some(leaving) => Poll::Ready(leaving),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// A message of this many bytes was sent.
    pub(super) fn left(&self, n_bytes: usize) {
        self.n_leaving_bytes
            .set(self.n_leaving_bytes.get().saturating_sub(n_bytes));
        self.writer.wake();
    }
}

impl Leaving {
    fn len(&self) -> usize {
        match self {
            Self::Message(bytes) => bytes.len(),
            Self::Unusable(text) => text.len(),
            Self::End => 0,
        }
    }
}

impl From<Result<(), Status>> for Outcome {
    fn from(result: Result<(), Status>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Complete)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn messages_wait_for_their_receivers_within_limits() {
        let queue = Rc::new(Queue::default());
        assert!(queue.news().now_or_never().is_none());
        for _ in 0..MAX_WAITING {
            assert!(queue.room().now_or_never().is_some());
            queue.arrive(Bytes::from_static(b"a"));
        }
        assert!(queue.room().now_or_never().is_none());
        queue.finish(Outcome::Complete);
        assert!(queue.outcome().is_none());
        assert!(queue.news().now_or_never().is_some());
        while queue.take().is_some() {}
        assert!(queue.room().now_or_never().is_some());
        assert!(queue.outcome().is_some());
        queue.arrive(vec![0; MAX_WAITING_BYTES].into());
        assert!(queue.room().now_or_never().is_none());
    }

    #[test]
    fn a_script_that_is_far_ahead_waits() {
        let queue = Queue::default();
        let n_bytes = MAX_WAITING_BYTES + 1;
        queue.leave(Leaving::Message(vec![0; n_bytes]));
        assert!(queue.is_far_ahead());
        assert!(queue.next_leaving().now_or_never().is_some());
        assert!(queue.caught_up().now_or_never().is_none());
        queue.left(n_bytes);
        assert!(queue.caught_up().now_or_never().is_some());
        queue.leave(Leaving::Message(vec![0; n_bytes]));
        queue.finish(Outcome::Complete);
        assert!(queue.caught_up().now_or_never().is_some());
        queue.leave(Leaving::End);
        assert!(queue.next_leaving().now_or_never().is_none());
    }
}
