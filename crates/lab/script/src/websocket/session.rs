//! One WebSocket of a script, from dialling to its end.
//!
//! What the server's Close, or a violation of the protocol, asks for waits until the script has handled what came
//! before: its answers go out in front of our own Close. Until then the connection is kept, and not read.

mod opening;
mod reader;

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll},
    time::Instant,
};

use plimsoll_clients::{
    dial::Traffic,
    websocket::{Connection, Conversation, Recipient as _, SendError},
};
use plimsoll_websocket::{CloseCode, Opcode};

use super::{
    Ending, Happening,
    debug::Debug,
    dial::{Flavour, Opened},
    inbox::Inbox,
    pings::Pings,
    samples::Samples,
};
use crate::waiter::Waiter;

/// A WebSocket. The script and the future that reads share it.
pub(crate) struct Session {
    url: String,
    /// Until the server knows of the end, and of what the script had to say before.
    conversation: RefCell<Option<Conversation>>,
    inbox: RefCell<Inbox>,
    pings: RefCell<Pings>,
    opened: RefCell<Option<Opened>>,
    /// Nothing more will be received.
    ending: RefCell<Option<Ending>>,
    /// The script handles something that it took.
    is_handling: Cell<bool>,
    /// Without the tags of an answer until there is one.
    samples: RefCell<Samples>,
    traffic: Rc<Traffic>,
    started: Instant,
    flavour: Flavour,
    /// What of it is shown in the log.
    debug: Option<Debug>,
    /// The attempt to connect is over.
    has_begun: Cell<bool>,
    is_finished: Cell<bool>,
    /// The future that reads.
    reader: Waiter,
    /// Who waits for news.
    owner: Waiter,
    /// Who waits until the socket has taken something.
    sender: Waiter,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Session {
    /// Waits for the end of the attempt to connect, and tells what came of it; once.
    pub(crate) async fn opened(&self) -> Opened {
        poll_fn(|cx| self.poll_opened(cx)).await
    }

    /// Waits until [`take`](Self::take) gives something, or the session has ended.
    pub(crate) async fn news(&self) {
        poll_fn(|cx| {
            self.owner.register(cx);
            if self.has_news() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Whether [`take`](Self::take) gives something, or the session has ended.
    pub(crate) fn has_news(&self) -> bool {
        !self.inbox.borrow().is_empty() || self.is_over()
    }

    /// Takes the oldest thing that has happened; `read` gets it and when it was read from the socket. A message counts
    /// as received, if it `counts`. Say [`handled`](Self::handled) when the script is done with it.
    pub(crate) fn take<R>(&self, counts: bool, read: impl FnOnce(Happening<'_>, Instant) -> R) -> Option<R> {
        let mut inbox = self.inbox.borrow_mut();
        let was_full = inbox.is_full();
        let taken = inbox.take(|happening, at| {
            if counts && matches!(happening, Happening::Text(_) | Happening::Binary(_)) {
                self.samples.borrow().received();
            }
            read(happening, at)
        });
        if was_full && !inbox.is_full() {
            self.reader.wake();
        }
        if taken.is_some() {
            self.is_handling.set(true);
        }
        taken
    }

    /// The script is done with all that it took: the server may be told of an ending that came behind it.
    pub(crate) fn handled(&self) {
        self.is_handling.set(false);
        if self.inbox.borrow().is_empty() {
            self.answer_ending();
        }
    }

    /// How the connection ended, once everything before was taken and the server was told.
    pub(crate) fn ending(&self) -> Option<Ending> {
        if self.is_over() && self.inbox.borrow().is_empty() {
            return self.ending.borrow().clone();
        }
        None
    }

    /// Sends a message: what the socket does not take at once goes out in the background. Bound it with
    /// [`sent_but`](Self::sent_but).
    ///
    /// # Errors
    /// [`SendError::Closing`] when either side has said Close, or the connection is gone.
    pub(crate) fn send(&self, opcode: Opcode, payload: &[u8]) -> Result<(), SendError> {
        self.write(|connection| connection.queue(opcode, payload))?;
        if let Some(debug) = self.debug {
            debug.sent(&self.url, opcode, payload);
        }
        self.count_sent();
        Ok(())
    }

    /// Sends a Ping, whose answer is measured.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    pub(crate) fn ping(&self) -> Result<(), SendError> {
        self.write(|connection| {
            let payload = self.pings.borrow_mut().send(Instant::now());
            connection.queue_ping(payload.as_bytes())?;
            if let Some(debug) = self.debug {
                debug.sent(&self.url, Opcode::Ping, payload.as_bytes());
            }
            Ok(())
        })
    }

    /// Says Close, unless either side has said it already.
    pub(crate) fn close(&self, code: CloseCode, reason: &str) {
        if let Some(conversation) = &mut *self.conversation.borrow_mut()
            && conversation.connection().is_open()
        {
            conversation.start_close(code, reason, Conversation::LONG_CLOSE_TIMEOUT);
            if self.debug.is_some() {
                Debug::closing(&self.url, code, reason);
            }
        }
        self.reader.wake();
    }

    /// Counts a frame that is not a message as a sent one, as `k6/websockets` does.
    pub(crate) fn count_sent(&self) {
        self.samples.borrow().sent();
    }

    /// How many bytes of frames the socket has not taken yet.
    pub(crate) fn n_unsent_bytes(&self) -> usize {
        let conversation = self.conversation.borrow();
        conversation
            .as_ref()
            .map_or(0, |it| it.connection().n_unsent_bytes())
    }

    /// Waits until no more than this many bytes wait for the socket.
    pub(crate) async fn sent_but(&self, n_bytes: usize) {
        poll_fn(|cx| {
            self.sender.register(cx);
            if self.n_unsent_bytes() > n_bytes {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }

    /// Ends the session now, if it has not ended: what waits is forgotten, and the server is told that we go.
    pub(crate) fn finish(&self) {
        if self.is_finished.replace(true) {
            return;
        }
        self.answer_ending();
        self.close(
            match self.flavour {
                Flavour::Blocking => CloseCode::GOING_AWAY,
                Flavour::Events => CloseCode::NORMAL,
            },
            "",
        );
        let was_open = self.conversation.take().is_some() || self.ending.borrow().is_some();
        self.inbox.borrow_mut().clear();
        self.count_traffic();
        let samples = self.samples.borrow();
        if !self.has_begun.get() {
            samples.attempted(self.started.elapsed());
        }
        if was_open || self.flavour == Flavour::Blocking {
            let ending = self.ending.borrow();
            let at = ending.as_ref().map_or_else(Instant::now, |ending| ending.at);
            samples.ended(at.saturating_duration_since(self.started));
        }
    }

    /// Whether the connection has ended, and the server knows.
    fn is_over(&self) -> bool {
        self.ending.borrow().is_some() && self.conversation.borrow().is_none()
    }

    /// Tells the server of an ending that it has not been told of. The connection is over when the socket has taken
    /// that.
    fn answer_ending(&self) {
        let mut held = self.conversation.borrow_mut();
        if let Some(conversation) = &mut *held
            && conversation.answer_ending()
        {
            if conversation.connection().n_unsent_bytes() == 0 {
                *held = None;
            }
            self.reader.wake();
        }
    }

    fn poll_opened(&self, cx: &Context<'_>) -> Poll<Opened> {
        self.owner.register(cx);
        self.opened.take().map_or(Poll::Pending, Poll::Ready)
    }

    /// Writes what `queue` puts into the connection, as far as the socket takes it.
    fn write(&self, queue: impl FnOnce(&mut Connection) -> Result<(), SendError>) -> Result<(), SendError> {
        let mut conversation = self.conversation.borrow_mut();
        let conversation = conversation.as_mut().ok_or(SendError::Closing)?;
        let connection = conversation.connection_mut();
        queue(connection)?;
        connection.try_flush();
        if connection.n_unsent_bytes() > 0 {
            self.reader.wake();
        }
        Ok(())
    }

    fn count_traffic(&self) {
        self.samples.borrow().moved(self.traffic.take());
    }
}
