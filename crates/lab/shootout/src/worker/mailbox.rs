//! A queue between tasks of one thread.
//!
//! A channel of tokio would do, but costs half a kilobyte each, and there is one mailbox per connection.

use std::{
    cell::RefCell,
    collections::VecDeque,
    task::{Context, Poll, Waker},
};

/// Letters from the worker to one of its tasks, or back. The queue has no limit of its own: its users limit it.
#[derive(Debug)]
pub(super) struct Mailbox<T> {
    letters: RefCell<VecDeque<T>>,
    reader: RefCell<Option<Waker>>,
}

impl<T> Mailbox<T> {
    pub(super) fn new() -> Self {
        Self {
            letters: RefCell::default(),
            reader: RefCell::default(),
        }
    }

    /// Adds a letter and wakes the reader.
    pub(super) fn post(&self, letter: T) {
        self.letters.borrow_mut().push_back(letter);
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// The oldest letter; without one, the task of `cx` is woken by the next. One task reads at a time.
    pub(super) fn poll_take(&self, cx: &Context<'_>) -> Poll<T> {
        if let Some(letter) = self.letters.borrow_mut().pop_front() {
            return Poll::Ready(letter);
        }
        let mut reader = self.reader.borrow_mut();
        if !reader.as_ref().is_some_and(|reader| reader.will_wake(cx.waker())) {
            *reader = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Waits for the oldest letter.
    pub(super) async fn take(&self) -> T {
        std::future::poll_fn(|cx| self.poll_take(cx)).await
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[tokio::test]
    async fn letters_arrive_in_order_before_and_after_waiting() {
        let mailbox = Rc::new(Mailbox::new());
        mailbox.post(1);
        mailbox.post(2);
        assert_eq!((mailbox.take().await, mailbox.take().await), (1, 2));
        let later = async {
            tokio::task::yield_now().await;
            mailbox.post(3);
        };
        assert_eq!(tokio::join!(mailbox.take(), later).0, 3);
    }
}
