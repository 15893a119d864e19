//! An HTTP/2 connection (RFC 9113), shared by concurrent requests.
//!
//! It has no task of its own: each polled request drives the whole connection, and wakes the others when data has
//! arrived for them.

use std::{
    cell::RefCell,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

use bytes::Bytes;
use h2::{Reason, client::SendRequest};

use crate::stream::Stream;

/// The library's connection.
type Driver = h2::client::Connection<Stream, Bytes>;

/// The limit of requests of a connection whose server has not said its own yet. No server announces it: theirs has 32 bits.
pub(crate) const NOT_SETTLED: usize = usize::MAX - 1;

/// An open connection.
pub(crate) struct Shared {
    requests: SendRequest<Bytes>,
    /// `None` when it has ended.
    driver: RefCell<Option<Driver>>,
    waiting: Arc<Waiting>,
}

/// The requests that wait for the connection.
#[derive(Default)]
struct Waiting(Mutex<Vec<Waker>>);

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        let wakers = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Shared {
    /// The connection after the library's handshake.
    pub(crate) fn new((requests, driver): (SendRequest<Bytes>, Driver)) -> Self {
        Self {
            requests,
            driver: RefCell::new(Some(driver)),
            waiting: Arc::default(),
        }
    }

    /// Whether another request can begin, after the data that has arrived was read.
    pub(crate) async fn is_open(&self) -> bool {
        let mut requests = self.requests.clone();
        poll_fn(|cx| {
            self.drive(cx);
            let has_ended = self.driver.borrow().is_none();
            Poll::Ready(!has_ended && !matches!(requests.poll_ready(cx), Poll::Ready(Err(_))))
        })
        .await
    }

    /// Waits until the server allows another request; gives the handle to send it with.
    pub(crate) async fn ready(&self) -> Result<SendRequest<Bytes>, h2::Error> {
        let mut requests = self.requests.clone();
        self.driving(poll_fn(|cx| requests.poll_ready(cx))).await?;
        Ok(requests)
    }

    /// Waits for `work` and drives the connection at the same time.
    pub(crate) async fn driving<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|cx| {
            self.drive(cx);
            let polled = work.as_mut().poll(cx);
            if polled.is_pending() {
                // It may have queued frames.
                self.drive(cx);
            }
            polled
        })
        .await
    }

    /// Reads and writes as much as possible without waiting. The task of `cx` is woken when there is more.
    pub(crate) fn drive(&self, cx: &mut Context<'_>) {
        let mut wakers = self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            wakers.push(cx.waker().clone());
        }
        drop(wakers);
        let waker = Waker::from(Arc::clone(&self.waiting));
        let mut driver = self.driver.borrow_mut();
        if let Some(connection) = driver.as_mut()
            && Pin::new(connection)
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
        {
            // Every stream has been told.
            *driver = None;
        }
    }

    /// Waits for the server's settings (RFC 9113 §3.4). The connection was made with [`NOT_SETTLED`] as the first limit of
    /// its requests. False if it ended before them.
    pub(crate) async fn settled(&self) -> bool {
        poll_fn(|cx| {
            self.drive(cx);
            match &*self.driver.borrow() {
                None => Poll::Ready(false),
                Some(driver) if driver.max_concurrent_send_streams() == NOT_SETTLED => Poll::Pending,
                Some(_) => Poll::Ready(true),
            }
        })
        .await
    }

    /// Writes what is queued, as far as the socket takes it at once.
    pub(crate) fn flush(&self) {
        self.drive(&mut Context::from_waker(Waker::noop()));
    }

    /// The reason of the GOAWAY with which the server ended the connection, if any. A request for a new stream gets it.
    pub(crate) fn last_words(&self) -> Option<Reason> {
        let mut no_task = Context::from_waker(Waker::noop());
        match self.requests.clone().poll_ready(&mut no_task) {
            Poll::Ready(Err(error)) if error.is_go_away() => error.reason(),
            _ => None,
        }
    }
}
