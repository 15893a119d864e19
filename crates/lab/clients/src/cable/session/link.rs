//! The connection of a session while it is open, and afterwards the reason of its end.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll},
    time::Instant,
};

use plimsoll_cable::{encoding::Content, subprotocol::Dialect};
use plimsoll_websocket::Event;

use super::Ending;
use crate::{
    cable::opening::opcode,
    websocket::{Connection, ReceiveError},
};

/// The target of the trace log for each frame: shown by `--websocket-debug=full`.
const LOG_TARGET: &str = "websocket";

#[derive(Debug)]
pub(super) struct Link {
    connection: Option<Connection>,
    /// The encoding of messages, and whether the server expects answers to its pings.
    pub(super) dialect: Dialect,
    ending: Option<Ending>,
    close_code: Option<u16>,
    /// Whether a caller waits for the socket to take the queued bytes.
    is_awaited: bool,
}

impl Link {
    pub(super) fn new(connection: Connection) -> Self {
        let dialect = Dialect::of(connection.protocol());
        Self {
            connection: Some(connection),
            dialect,
            ending: None,
            close_code: None,
            is_awaited: false,
        }
    }

    pub(super) fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    pub(super) fn is_gone(&self) -> bool {
        self.connection.is_none()
    }

    pub(super) fn close_code(&self) -> Option<u16> {
        self.close_code
    }

    /// Reads once and passes the JSON of each message to `on_json`, whose error ends the session. Also returns whether
    /// all bytes that a caller waits for are sent.
    pub(super) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        mut on_json: impl FnMut(Instant, &str) -> Result<(), Ending>,
    ) -> (Poll<Result<(), Ending>>, bool) {
        let was_flushed = self.is_awaited && !matches!(self.poll_flush(cx), Poll::Pending);
        let Some(connection) = &mut self.connection else {
            return (Poll::Ready(Err(self.end(Ending::Left))), was_flushed);
        };
        let (ending, encoding) = (&mut self.ending, self.dialect.encoding);
        let mut on_content = |at, content: Content<'_>| {
            let json = encoding.reply_json(content)?;
            tracing::trace!(target: LOG_TARGET, "received {encoding}: {}", shortened(&json));
            on_json(at, &json)
        };
        let on_event = |at, event: Event<'_>| {
            let outcome = match event {
                // Messages after a `disconnect` are ignored.
                _ if ending.is_some() => Ok(()),
                Event::Text(text) => on_content(at, Content::Text(text)),
                Event::Binary(bytes) => on_content(at, Content::Binary(bytes)),
                Event::Ping(_) | Event::Pong(_) | Event::Close(_) => Ok(()),
            };
            if let Err(why) = outcome {
                *ending = Some(why);
            }
        };
        let read = connection.poll_receive(cx, on_event).map_err(|error| {
            if let ReceiveError::Closed { code, .. } = &error {
                self.close_code = *code;
            }
            self.end(error.into())
        });
        (read, was_flushed)
    }

    pub(super) fn queue(&mut self, command: &str) -> Result<(), Ending> {
        let connection = Self::open(&self.ending, &mut self.connection)?;
        let encoding = self.dialect.encoding;
        let content = encoding.encode_command(command)?;
        tracing::trace!(target: LOG_TARGET, "sent {encoding}: {}", shortened(command));
        Ok(connection.queue(opcode(encoding), &content)?)
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Ending>> {
        let connection = Self::open(&self.ending, &mut self.connection)?;
        // A new future for each poll: dropping one loses nothing.
        let flushed = pin!(connection.flush()).poll(cx);
        self.is_awaited = flushed.is_pending();
        flushed.map_err(|error| self.end(error.into()))
    }

    /// Takes the connection away and notes why; the first reason stays.
    pub(super) fn end(&mut self, ending: Ending) -> Ending {
        self.connection = None;
        self.ending.get_or_insert(ending).clone()
    }

    /// Returns the connection to a caller that will close it.
    pub(super) fn leave(&mut self) -> Option<Connection> {
        self.ending.get_or_insert(Ending::Left);
        self.connection.take()
    }

    fn open<'a>(
        ending: &Option<Ending>,
        connection: &'a mut Option<Connection>,
    ) -> Result<&'a mut Connection, Ending> {
        match (ending, connection) {
            (None, Some(connection)) => Ok(connection),
            (ending, _) => Err(ending.clone().unwrap_or(Ending::Left)),
        }
    }
}

/// What is shown of a frame.
fn shortened(text: &str) -> &str {
    const MAX_BYTES: usize = 200;
    &text[..text.floor_char_boundary(MAX_BYTES)]
}
