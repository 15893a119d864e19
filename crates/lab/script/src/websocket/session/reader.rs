//! The future that reads a WebSocket in the background while the script does something else.

use std::{
    future::{Future as _, poll_fn},
    rc::Rc,
    task::{Context, Poll, ready},
    time::Instant,
};

use plimsoll_clients::{dial::Traffic, websocket::ReceiveError};
use plimsoll_load::metrics::Recorder;
use plimsoll_websocket::Event;

use super::Session;
use crate::{
    program::Program,
    websocket::{Ending, debug::Debug, dial::Dialled, samples::Samples},
};

/// Ends the session with the future that it is in, when that is dropped before its time. After the connection's own end
/// the script still takes what came before it.
pub(super) struct Reader(Rc<Session>);

impl Drop for Reader {
    fn drop(&mut self) {
        let session = &self.0;
        if session.ending.borrow().is_none() {
            session.finish();
        } else {
            session.answer_ending();
            session.connection.take();
        }
    }
}

impl Reader {
    pub(super) fn of(session: &Rc<Session>) -> Self {
        Self(Rc::clone(session))
    }

    pub(super) fn traffic(&self) -> &Rc<Traffic> {
        &self.0.traffic
    }

    /// The attempt to connect is over.
    pub(super) fn begin(&self, dialled: Dialled, program: &Program, recorder: &Recorder) {
        let Dialled {
            connection,
            opened,
            tags,
        } = dialled;
        if self.0.debug.is_some() {
            Debug::attempted(&self.0.url, opened.response.as_ref(), opened.error.as_deref());
        }
        let samples = Samples::new(program, recorder, &tags);
        samples.attempted(self.0.started.elapsed());
        self.0.has_begun.set(true);
        self.0.samples.replace(samples);
        self.0.count_traffic();
        self.0.connection.replace(connection);
        self.0.opened.replace(Some(opened));
        self.0.owner.wake();
    }

    /// Reads into the inbox, and writes what waits, until the connection is over.
    pub(super) async fn read(&self) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let session = &self.0;
        session.reader.register(cx);
        if session.connection.borrow().is_none() {
            // It never stood, or the script is done with it.
            return Poll::Ready(());
        }
        if session.ending.borrow().is_none() {
            let ending = if self.has_no_patience(cx) {
                ReceiveError::Ended
            } else {
                ready!(self.poll_read(cx))
            };
            self.lose(ending);
        }
        self.poll_leave(cx)
    }

    /// Whether the server has kept us waiting for too long.
    fn has_no_patience(&self, cx: &mut Context<'_>) -> bool {
        let mut patience = self.0.patience.borrow_mut();
        patience
            .as_mut()
            .is_some_and(|patience| patience.as_mut().poll(cx).is_ready())
    }

    /// Reads all that is there and fits; ready when nothing more will come.
    fn poll_read(&self, cx: &mut Context<'_>) -> Poll<ReceiveError> {
        let session = &self.0;
        let read = loop {
            let mut connection = session.connection.borrow_mut();
            let Some(connection) = connection.as_mut() else {
                break Poll::Pending;
            };
            if session.inbox.borrow().is_full() {
                // A broken connection shows when it is read again.
                let _ = connection.poll_flush(cx);
                break Poll::Pending;
            }
            let read = connection.poll_receive_unanswered(cx, |at, event| self.receive(at, event));
            match read {
                Poll::Pending => break Poll::Pending,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(ending)) => break Poll::Ready(ending),
            }
        };
        session.sender.wake();
        session.count_traffic();
        if session.has_news() {
            session.owner.wake();
        }
        read
    }

    fn receive(&self, at: Instant, event: Event<'_>) {
        let session = &self.0;
        if let Some(debug) = session.debug {
            debug.received(&session.url, event);
        }
        if let Event::Pong(payload) = event
            && let Some(took) = session.pings.borrow_mut().receive(payload, at)
        {
            session.samples.borrow().ponged(took);
        }
        session.inbox.borrow_mut().put(at, event);
    }

    /// Nothing more will come. The server is told at once, if the script has handled all that came before.
    fn lose(&self, ending: ReceiveError) {
        let session = &self.0;
        if session.debug.is_some() && !matches!(ending, ReceiveError::Closed { .. }) {
            Debug::lost(&session.url, &ending.to_string());
        }
        session.ending.replace(Some(Ending::of(&ending, Instant::now())));
        session.patience.take();
        if !ending.asks_for_close() {
            session.connection.take();
            return;
        }
        session.unanswered.replace(Some(ending));
        if session.inbox.borrow().is_empty() && !session.is_handling.get() {
            session.answer_ending();
        }
    }

    /// Writes what waits, after the end of what is received; ready when the server has been told of that.
    fn poll_leave(&self, cx: &mut Context<'_>) -> Poll<()> {
        let session = &self.0;
        let mut held = session.connection.borrow_mut();
        let flushed = held.as_mut().map(|connection| connection.poll_flush(cx));
        let is_over = match flushed {
            Some(Poll::Pending) => {
                if session.patience.borrow().is_none() {
                    session.be_patient();
                }
                self.has_no_patience(cx)
            }
            Some(Poll::Ready(Ok(()))) => {
                session.patience.take();
                session.unanswered.borrow().is_none()
            }
            Some(Poll::Ready(Err(_))) | None => true,
        };
        if is_over {
            *held = None;
        }
        drop(held);
        session.sender.wake();
        if is_over {
            session.owner.wake();
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
