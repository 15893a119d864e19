//! An open WebSocket that is read while its user does something else, until it ends.
//!
//! All users of a [`Connection`] read it through this layer: sessions of Action Cable, scripts, the files of other tools
//! and the clients of a bench. They differ in their policy only: what they do with an event and when they stop reading
//! ([`Recipient`]), whether the server's Close waits for their own last messages
//! ([`answering_later`](Conversation::answering_later)), and how long the server may take for its Close.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use plimsoll_websocket::{CloseCode, Event, Opcode};
use tokio::time::{Sleep, sleep, timeout};

use super::{Connection, ReceiveError, SendError};

/// The destination of received events.
pub trait Recipient {
    /// Takes an event that was read at this instant. Pings have been answered already. It must read from no connection.
    fn put(&mut self, at: Instant, event: Event<'_>);

    /// Whether the socket must not be read for now, so that a server that floods fills its own connection. Recipients that
    /// drop messages instead are never full.
    fn is_full(&self) -> bool {
        false
    }
}

/// Drops everything: for users that only wait for the end.
#[derive(Clone, Copy, Debug)]
pub struct Discard;

impl Recipient for Discard {
    fn put(&mut self, _: Instant, _: Event<'_>) {}
}

/// A connection, the reason of its end, and the deadline of the server's Close.
#[derive(Debug)]
pub struct Conversation {
    connection: Connection,
    ending: Option<ReceiveError>,
    answers_later: bool,
    /// Runs while the server is waited for.
    patience: Option<Pin<Box<Sleep>>>,
}

impl Conversation {
    /// How long a user that is done waits for the server's Close. A running server answers at once; another one must
    /// not hold up the end of a run, where thousands close at the same time.
    pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

    /// The same for users of scripts and Artillery's files. Reason: they count the answers to their last messages,
    /// which an overloaded server sends late. Firefox waits as long.
    pub const LONG_CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

    /// A conversation that answers the server's Close as soon as it is read.
    pub fn new(connection: Connection) -> Self {
        Self {
            connection,
            ending: None,
            answers_later: false,
            patience: None,
        }
    }

    /// Does not tell the server about the ending before [`answer_ending`](Self::answer_ending), so that the user can
    /// answer earlier messages.
    #[must_use]
    pub fn answering_later(self) -> Self {
        Self {
            answers_later: true,
            ..self
        }
    }

    /// The connection, to ask for its properties.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The connection, to queue and write messages.
    pub fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Why nothing more will be received. `None` while more may come.
    pub fn ending(&self) -> Option<&ReceiveError> {
        self.ending.as_ref()
    }

    /// Reads once into `recipient`; while that is full, only writes. A server that exceeds the limit of
    /// [`expect_close`](Self::expect_close) counts as one that has ended the connection.
    ///
    /// # Errors
    /// The connection is over. Every later call returns the same error.
    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        recipient: &mut impl Recipient,
    ) -> Poll<Result<(), ReceiveError>> {
        if let Some(ending) = &self.ending {
            return Poll::Ready(Err(ending.clone()));
        }
        if self.has_no_patience(cx) {
            return Poll::Ready(Err(self.end(ReceiveError::Ended)));
        }
        if recipient.is_full() {
            // A broken connection shows when it is read again.
            let _ = self.connection.poll_flush(cx);
            return Poll::Pending;
        }
        let read = self
            .connection
            .poll_receive(cx, |at, event| recipient.put(at, event));
        read.map_err(|ending| self.end(ending))
    }

    /// Reads everything that has arrived and fits. Ready when nothing more will arrive.
    pub fn poll_read_all(
        &mut self,
        cx: &mut Context<'_>,
        recipient: &mut impl Recipient,
    ) -> Poll<ReceiveError> {
        loop {
            if let Err(ending) = ready!(self.poll_read(cx, recipient)) {
                return Poll::Ready(ending);
            }
        }
    }

    /// Reads until `look` returns a value. It is called first, and again after each read.
    ///
    /// # Errors
    /// The connection is over, and `look` found nothing in what came before.
    pub async fn read_until<R: Recipient, T>(
        &mut self,
        recipient: &mut R,
        mut look: impl FnMut(&mut Context<'_>, &mut R) -> Poll<T>,
    ) -> Result<T, ReceiveError> {
        poll_fn(|cx| {
            let mut ending = None;
            loop {
                if let Poll::Ready(found) = look(cx, recipient) {
                    return Poll::Ready(Ok(found));
                }
                if let Some(ending) = ending {
                    return Poll::Ready(Err(ending));
                }
                ending = ready!(self.poll_read(cx, recipient)).err();
            }
        })
        .await
    }

    /// Encodes a message without writing it: see [`Connection::queue`].
    ///
    /// # Errors
    /// [`SendError::Closing`].
    pub fn queue(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), SendError> {
        self.connection.queue(opcode, payload)
    }

    /// Waits until the socket has taken all queued bytes, and reads at the same time, because a server may not read
    /// until its own messages are read.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn flush(&mut self, recipient: &mut impl Recipient) -> Result<(), ReceiveError> {
        poll_fn(|cx| {
            if let Poll::Ready(flushed) = self.connection.poll_flush(cx) {
                return Poll::Ready(flushed.map_err(ReceiveError::from));
            }
            if let Poll::Ready(ending) = self.poll_read_all(cx, recipient) {
                return Poll::Ready(Err(ending));
            }
            self.connection.poll_flush(cx).map_err(ReceiveError::from)
        })
        .await
    }

    /// Says Close, unless either side has said it, and waits at most `limit` for the server's. Read on to get it.
    pub fn start_close(&mut self, code: CloseCode, reason: &str, limit: Duration) {
        self.connection.start_close(code, reason);
        self.expect_close(limit);
    }

    /// Waits at most `limit` for the server's Close. A limit that is already running stays.
    pub fn expect_close(&mut self, limit: Duration) {
        self.patience.get_or_insert_with(|| Box::pin(sleep(limit)));
    }

    /// Whether the server's Close is expected, because this side has said or awaits the end.
    pub fn expects_close(&self) -> bool {
        self.patience.is_some()
    }

    /// Says Close with code 1000 and reads on until the server's Close and the end of the stream, at most `limit`. The
    /// server ends the TCP connection first when it follows RFC 6455 §7.1.1, so that our local port is free at once and
    /// not held for a minute in `TIME_WAIT`.
    pub async fn close(&mut self, recipient: &mut impl Recipient, limit: Duration) {
        let closing = async {
            self.connection.start_close(CloseCode::NORMAL, "");
            while poll_fn(|cx| self.poll_read(cx, recipient)).await.is_ok() {}
            self.connection.read_to_end().await;
        };
        // Errors while closing do not matter: the connection is over in any case.
        let _ = timeout(limit, closing).await;
    }

    /// Tells the server about the ending, if it waits for that: see [`answering_later`](Self::answering_later). Returns
    /// whether it did.
    pub fn answer_ending(&mut self) -> bool {
        let Some(ending) = self.ending.as_ref().filter(|_| self.answers_later) else {
            return false;
        };
        self.connection.answer_ending(ending);
        self.answers_later = false;
        true
    }

    /// Writes the last words after the ending: ready when the server has been told and the socket has taken them, when
    /// it is broken, or when it does not take them within `limit`.
    pub fn poll_leave(&mut self, cx: &mut Context<'_>, limit: Duration) -> Poll<()> {
        match self.connection.poll_flush(cx) {
            Poll::Pending => {
                self.expect_close(limit);
                if self.has_no_patience(cx) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            }
            Poll::Ready(Ok(())) => {
                self.patience = None;
                if self.answers_later {
                    Poll::Pending
                } else {
                    Poll::Ready(())
                }
            }
            Poll::Ready(Err(_)) => Poll::Ready(()),
        }
    }

    fn has_no_patience(&mut self, cx: &mut Context<'_>) -> bool {
        let patience = self.patience.as_mut();
        patience.is_some_and(|patience| patience.as_mut().poll(cx).is_ready())
    }

    fn end(&mut self, ending: ReceiveError) -> ReceiveError {
        self.patience = None;
        self.answers_later &= ending.asks_for_close();
        if !self.answers_later {
            self.connection.answer_ending(&ending);
        }
        self.ending.insert(ending).clone()
    }
}

#[cfg(test)]
mod tests;
