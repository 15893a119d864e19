//! The connection of a session while it is open, and afterwards the reason of its end.

use std::{
    task::{Context, Poll},
    time::Instant,
};

use plimsoll_cable::{encoding::Content, subprotocol::Dialect};
use plimsoll_websocket::Event;

use super::Ending;
use crate::{
    cable::opening::opcode,
    websocket::{Connection, Conversation, ReceiveError, Recipient},
};

/// The target of the trace log for each frame: shown by `--websocket-debug=full`.
const LOG_TARGET: &str = "websocket";

#[derive(Debug)]
pub(super) struct Link {
    conversation: Option<Conversation>,
    /// The encoding of messages, and whether the server expects answers to its pings.
    pub(super) dialect: Dialect,
    ending: Option<Ending>,
    close_code: Option<u16>,
    /// Whether a caller waits for the socket to take the queued bytes.
    is_awaited: bool,
}

/// The messages of one read, on their way to their channels.
struct Arrivals<'a, F> {
    ending: &'a mut Option<Ending>,
    dialect: Dialect,
    is_stalled: bool,
    on_json: F,
}

impl<F: FnMut(Instant, &str) -> Result<(), Ending>> Recipient for Arrivals<'_, F> {
    fn put(&mut self, at: Instant, event: Event<'_>) {
        let content = match event {
            // Messages after a `disconnect` are ignored.
            _ if self.ending.is_some() => return,
            Event::Text(text) => Content::Text(text),
            Event::Binary(bytes) => Content::Binary(bytes),
            Event::Ping(_) | Event::Pong(_) | Event::Close(_) => return,
        };
        let Dialect {
            encoding,
            is_extended,
        } = self.dialect;
        let json = encoding.reply_json(content, is_extended).map_err(Ending::from);
        let routed = json.and_then(|json| {
            tracing::trace!(target: LOG_TARGET, "received {encoding}: {}", shortened(&json));
            (self.on_json)(at, &json)
        });
        *self.ending = routed.err();
    }

    fn is_full(&self) -> bool {
        self.is_stalled
    }
}

impl Link {
    pub(super) fn new(connection: Connection) -> Self {
        let dialect = Dialect::of(connection.protocol());
        Self {
            conversation: Some(Conversation::new(connection)),
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
        self.conversation.is_none()
    }

    pub(super) fn close_code(&self) -> Option<u16> {
        self.close_code
    }

    /// Reads once, unless `is_stalled`, and passes the JSON of each message to `on_json`, whose error ends the session.
    /// Also returns whether all bytes that a caller waits for are sent.
    pub(super) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        is_stalled: bool,
        on_json: impl FnMut(Instant, &str) -> Result<(), Ending>,
    ) -> (Poll<Result<(), Ending>>, bool) {
        let was_flushed = self.is_awaited && !matches!(self.poll_flush(cx), Poll::Pending);
        let Some(conversation) = &mut self.conversation else {
            return (Poll::Ready(Err(self.end(Ending::Left))), was_flushed);
        };
        let mut arrivals = Arrivals {
            ending: &mut self.ending,
            dialect: self.dialect,
            is_stalled,
            on_json,
        };
        let read = conversation.poll_read(cx, &mut arrivals);
        if matches!(self.ending, Some(Ending::Disconnected { .. })) {
            // The server's Close, with its code, comes right after it.
            conversation.expect_close(Conversation::CLOSE_TIMEOUT);
        }
        let read = read.map_err(|error| {
            if let ReceiveError::Closed { code, .. } = &error {
                self.close_code = *code;
            }
            self.end(error.into())
        });
        (read, was_flushed)
    }

    pub(super) fn queue(&mut self, command: &str) -> Result<(), Ending> {
        let encoding = self.dialect.encoding;
        let connection = self.open()?;
        let content = encoding.encode_command(command)?;
        tracing::trace!(target: LOG_TARGET, "sent {encoding}: {}", shortened(command));
        Ok(connection.queue(opcode(encoding), &content)?)
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Ending>> {
        let flushed = self.open()?.poll_flush(cx);
        self.is_awaited = flushed.is_pending();
        flushed.map_err(|error| self.end(error.into()))
    }

    /// Takes the connection away and notes why; the first reason stays.
    pub(super) fn end(&mut self, ending: Ending) -> Ending {
        self.conversation = None;
        self.ending.get_or_insert(ending).clone()
    }

    /// Returns the conversation to a caller that will close it.
    pub(super) fn leave(&mut self) -> Option<Conversation> {
        self.ending.get_or_insert(Ending::Left);
        self.conversation.take()
    }

    fn open(&mut self) -> Result<&mut Connection, Ending> {
        match (&self.ending, &mut self.conversation) {
            (None, Some(conversation)) => Ok(conversation.connection_mut()),
            (ending, _) => Err(ending.clone().unwrap_or(Ending::Left)),
        }
    }
}

/// What is shown of a frame.
fn shortened(text: &str) -> &str {
    const MAX_BYTES: usize = 200;
    &text[..text.floor_char_boundary(MAX_BYTES)]
}
