//! The future that reads a WebSocket in the background while the script does something else.

use std::{
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll, ready},
    time::Instant,
};

use plimsoll_clients::{
    dial::Traffic,
    websocket::{Conversation, ReceiveError, Recipient},
};
use plimsoll_load::metrics::Recorder;
use plimsoll_websocket::Event;

use super::Session;
use crate::{
    program::Program,
    websocket::{
        Ending,
        debug::Debug,
        dial::{Dialled, Fault},
        samples::Samples,
    },
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
            session.conversation.take();
        }
    }
}

/// Happenings go into the inbox; while that is full, the socket is not read.
impl Recipient for &Session {
    fn put(&mut self, at: Instant, event: Event<'_>) {
        if let Some(debug) = self.debug {
            debug.received(&self.url, event);
        }
        if let Event::Pong(payload) = event
            && let Some(took) = self.pings.borrow_mut().receive(payload, at)
        {
            self.samples.borrow().ponged(took);
        }
        self.inbox.borrow_mut().put(at, event);
    }

    fn is_full(&self) -> bool {
        self.inbox.borrow().is_full()
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
            fault,
        } = dialled;
        if self.0.debug.is_some() {
            Debug::attempted(&self.0.url, opened.response.as_ref(), opened.error.as_deref());
        }
        let samples = Samples::new(program, recorder, &tags);
        samples.attempted(self.0.started.elapsed());
        recorder.connection(fault.is_some());
        if let Some(Fault { cause, example }) = fault {
            recorder.fault(&cause, &example);
        }
        self.0.has_begun.set(true);
        self.0.samples.replace(samples);
        self.0.count_traffic();
        let conversation = connection.map(|it| Conversation::new(it).answering_later());
        self.0.conversation.replace(conversation);
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
        if session.conversation.borrow().is_none() {
            // It never stood, or the script is done with it.
            return Poll::Ready(());
        }
        if session.ending.borrow().is_none() {
            let ending = ready!(self.poll_read(cx));
            self.lose(&ending);
        }
        self.poll_leave(cx)
    }

    /// Reads all that is there and fits; ready when nothing more will come.
    fn poll_read(&self, cx: &mut Context<'_>) -> Poll<ReceiveError> {
        let mut session = &*self.0;
        let mut held = session.conversation.borrow_mut();
        let read = held
            .as_mut()
            .map_or(Poll::Pending, |it| it.poll_read_all(cx, &mut session));
        drop(held);
        session.sender.wake();
        session.count_traffic();
        if session.has_news() {
            session.owner.wake();
        }
        read
    }

    /// Nothing more will come. The server is told at once, if the script has handled all that came before.
    fn lose(&self, ending: &ReceiveError) {
        let session = &self.0;
        if session.debug.is_some() && !matches!(ending, ReceiveError::Closed { .. }) {
            Debug::lost(&session.url, &ending.to_string());
        }
        let known = Ending::of(ending, Instant::now());
        // After the script's own Close, a missing answer is not a failure of the connection.
        let was_expected = session
            .conversation
            .borrow()
            .as_ref()
            .is_some_and(Conversation::expects_close);
        if let Some(error) = known.error.as_ref().filter(|_| !was_expected) {
            session.samples.borrow().lost(error);
        }
        session.ending.replace(Some(known));
        if !ending.asks_for_close() {
            session.conversation.take();
        } else if session.inbox.borrow().is_empty() && !session.is_handling.get() {
            session.answer_ending();
        }
    }

    /// Writes what waits, after the end of what is received; ready when the server has been told of that.
    fn poll_leave(&self, cx: &mut Context<'_>) -> Poll<()> {
        let session = &self.0;
        let mut held = session.conversation.borrow_mut();
        let left = held.as_mut().map_or(Poll::Ready(()), |it| {
            it.poll_leave(cx, Conversation::LONG_CLOSE_TIMEOUT)
        });
        if left.is_ready() {
            *held = None;
        }
        drop(held);
        session.sender.wake();
        if left.is_ready() {
            session.owner.wake();
        }
        left
    }
}
