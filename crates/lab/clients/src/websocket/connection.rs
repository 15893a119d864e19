//! An open WebSocket.
//!
//! It is read into the buffer of the thread, so that ten thousand idle connections of one worker own no buffer: all
//! events of a read by a [`Conversation`](super::Conversation), and one message at a time with
//! [`Connection::next_message`] while the connection is made ready. Pings are answered in both cases.

use std::{
    future::poll_fn,
    io,
    ops::ControlFlow,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Instant,
};

use plimsoll_websocket::{CloseCode, Config, Decoder, Event, Opcode, Role, handshake::client::Accepted};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{Compression, Counters, Message, Options, Payload, ReceiveError, SendError, outgoing::Outgoing};
use crate::{scratch, stream::Stream};

/// An open WebSocket, client side. While idle it owns no buffer (with TLS: only those of the cipher).
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    config: Config,
    decoder: Decoder,
    is_deflated: bool,
    protocol: Option<Box<str>>,
    /// Bytes that were read (with the handshake, or by `next_message`) but not decoded yet, and when.
    unread: Vec<u8>,
    unread_at: Instant,
    outgoing: Outgoing,
    n_messages_in: u64,
    bytes_in: u64,
    n_pings: u64,
}

impl Connection {
    pub(super) fn new(stream: Stream, options: &Options, accepted: Accepted, unread: Vec<u8>) -> Self {
        let config = Config {
            role: Role::Client,
            max_message_bytes: options.max_message_bytes,
            deflate: None,
        };
        let agreed = accepted.deflate;
        let decoder = agreed.map_or_else(Decoder::new, |agreed| Decoder::with_deflate(&config, &agreed));
        let compresses = options.compression == Compression::Both;
        let sending = agreed
            .filter(|_| compresses)
            .map(|agreed| agreed.sent_by(Role::Client));
        Self {
            stream,
            config,
            decoder,
            is_deflated: agreed.is_some(),
            protocol: accepted.protocol.map(String::into_boxed_str),
            bytes_in: unread.len() as u64,
            unread,
            unread_at: Instant::now(),
            outgoing: Outgoing::new(sending),
            n_messages_in: 0,
            n_pings: 0,
        }
    }

    /// The sub-protocol that the server chose.
    pub fn protocol(&self) -> Option<&str> {
        self.protocol.as_deref()
    }

    /// Whether permessage-deflate was agreed on.
    pub fn is_deflated(&self) -> bool {
        self.is_deflated
    }

    /// What went over the connection so far.
    pub fn counters(&self) -> Counters {
        let &Self {
            n_messages_in,
            bytes_in,
            n_pings,
            ..
        } = self;
        let (n_messages_out, bytes_out) = self.outgoing.totals();
        Counters {
            n_messages_in,
            n_messages_out,
            bytes_in,
            bytes_out,
            n_pings,
        }
    }

    /// Reads once and hands each complete event to `on_event`, with the instant of the read. Pings have been answered
    /// already. Ready after one read, whether or not it completed an event. `on_event` must read from no other
    /// connection.
    ///
    /// # Errors
    /// Nothing more will be received, and this must not be called again; earlier events have been passed on. The caller
    /// may still send; then it tells the server with [`answer_ending`](Self::answer_ending).
    pub(super) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        mut on_event: impl FnMut(Instant, Event<'_>),
    ) -> Poll<Result<(), ReceiveError>> {
        scratch::lend(|scratch| {
            self.poll_receive_into(cx, scratch, |at, event| {
                on_event(at, event);
                ControlFlow::Continue(())
            })
        })
    }

    /// Like [`poll_receive`](Self::poll_receive), into a buffer that is not empty. Keeps the rest of the bytes for the
    /// next call when `on_event` breaks.
    pub(super) fn poll_receive_into(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        on_event: impl FnMut(Instant, Event<'_>) -> ControlFlow<()>,
    ) -> Poll<Result<(), ReceiveError>> {
        self.poll_unsent(cx)?;
        if !self.unread.is_empty() {
            let mut unread = std::mem::take(&mut self.unread);
            return Poll::Ready(self.decode_all(&mut unread, self.unread_at, on_event));
        }
        let mut buffer = ReadBuf::new(scratch);
        ready!(self.poll_read(cx, &mut buffer))?;
        let at = Instant::now();
        Poll::Ready(self.decode_all(buffer.filled_mut(), at, on_event))
    }

    /// Sends the Close for an ending, unless it is already sent: the server's own is answered, and a violation of the
    /// protocol fails the connection (RFC 6455 §7.1.7). Writes as many bytes as the socket takes.
    pub fn answer_ending(&mut self, ending: &ReceiveError) {
        match ending {
            ReceiveError::Closed { code, .. } => self.outgoing.answer_close(code.and_then(CloseCode::new)),
            ReceiveError::Protocol(error) => self.outgoing.start_close(error.close_code(), ""),
            ReceiveError::Ended | ReceiveError::Lost(_) => {}
        }
        self.try_flush();
    }

    /// Waits for the next text or binary message. Dropping the future loses nothing.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn next_message(&mut self) -> Result<Message, ReceiveError> {
        loop {
            let mut message = None;
            let mut note = |at, event: Event<'_>| match Payload::of(event) {
                None => ControlFlow::Continue(()),
                Some(payload) => {
                    message = Some(Message { at, payload });
                    ControlFlow::Break(())
                }
            };
            let read = poll_fn(|cx| scratch::lend(|scratch| self.poll_receive_into(cx, scratch, &mut note)));
            let read = read.await.inspect_err(|ending| self.answer_ending(ending));
            match message {
                Some(message) => return Ok(message),
                None => read?,
            }
        }
    }

    /// Sends one message and waits until the socket has taken all of it.
    ///
    /// # Errors
    /// The connection is closing or broken.
    pub async fn send(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), SendError> {
        self.flush().await?;
        self.queue(opcode, payload)?;
        self.flush().await
    }

    /// Sends one text message: see [`send`](Self::send).
    ///
    /// # Errors
    /// The connection is closing or broken.
    pub async fn send_text(&mut self, text: &str) -> Result<(), SendError> {
        self.send(Opcode::Text, text.as_bytes()).await
    }

    /// Encodes one message without writing it; [`flush`](Self::flush) writes. For callers that must take the time
    /// between the two. Call it only when everything before has been flushed, because the queue is otherwise unbounded.
    ///
    /// # Errors
    /// [`SendError::Closing`] after a Close frame was sent or received.
    pub fn queue(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), SendError> {
        self.outgoing.queue_message(opcode, payload)
    }

    /// Encodes a Ping, at most 125 bytes, without writing it: see [`queue`](Self::queue).
    ///
    /// # Errors
    /// [`SendError::Closing`] when a Close frame was sent or received.
    pub fn queue_ping(&mut self, payload: &[u8]) -> Result<(), SendError> {
        self.outgoing.queue_ping(payload)
    }

    /// Sends a Close, unless either side has sent one, without waiting. The reason is cut at 123 bytes. Continue to
    /// read: the server's Close ends the connection.
    pub fn start_close(&mut self, code: CloseCode, reason: &str) {
        self.outgoing.start_close(code, reason);
        self.try_flush();
    }

    /// Whether neither side has sent a Close.
    pub fn is_open(&self) -> bool {
        self.outgoing.is_open()
    }

    /// The bytes of frames that the socket has not taken yet.
    pub fn n_unsent_bytes(&self) -> usize {
        self.outgoing.unsent().len()
    }

    /// Writes as many bytes as the socket takes. The rest is sent by later calls of any method; an error shows again at
    /// the next read.
    pub fn try_flush(&mut self) {
        if !self.outgoing.unsent().is_empty() {
            let n_written = self.stream.try_write(self.outgoing.unsent());
            self.outgoing.forget(n_written);
        }
    }

    /// Waits until the socket has taken all queued bytes. Dropping the future loses nothing: the next call of any
    /// method sends the rest.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn flush(&mut self) -> Result<(), SendError> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Writes as many queued bytes as the socket takes.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        self.poll_write_unsent(cx).map_err(SendError::from)
    }

    /// Waits for the end of the stream, and drops everything before it.
    pub(super) async fn read_to_end(&mut self) {
        while poll_fn(|cx| scratch::lend(|scratch| self.poll_read(cx, &mut ReadBuf::new(scratch))))
            .await
            .is_ok()
        {}
    }

    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), ReceiveError>> {
        // Through `AsyncRead` and not `try_read`: a read that does not fill the buffer then counts as having emptied
        // the socket, which saves a second system call.
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer)).map_err(|error| ended(&error))?;
        if buffer.filled().is_empty() {
            return Poll::Ready(Err(ReceiveError::Ended));
        }
        self.bytes_in += buffer.filled().len() as u64;
        Poll::Ready(Ok(()))
    }

    /// Decodes all of `bytes`, or those up to the event at which `on_event` breaks.
    fn decode_all(
        &mut self,
        mut bytes: &mut [u8],
        at: Instant,
        mut on_event: impl FnMut(Instant, Event<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReceiveError> {
        while !bytes.is_empty() {
            let mut flow = ControlFlow::Continue(());
            let n_consumed = self.decode_one(bytes, |event| flow = on_event(at, event))?;
            bytes = &mut bytes[n_consumed..];
            if flow.is_break() {
                (self.unread, self.unread_at) = (bytes.to_vec(), at);
                break;
            }
        }
        Ok(())
    }

    /// Decodes the first event of `bytes`, or consumes all of them if they complete none. Returns the number of
    /// consumed bytes.
    fn decode_one(
        &mut self,
        bytes: &mut [u8],
        on_event: impl FnOnce(Event<'_>),
    ) -> Result<usize, ReceiveError> {
        let decoded = self.decoder.decode(&self.config, bytes)?;
        let n_consumed = decoded.consumed;
        let mut closed = None;
        match decoded.event {
            Some(Event::Text(_) | Event::Binary(_)) => self.n_messages_in += 1,
            Some(Event::Ping(payload)) => {
                self.n_pings += 1;
                self.outgoing.answer_ping(payload);
            }
            Some(Event::Close(frame)) => closed = Some(ReceiveError::closed(frame)),
            Some(Event::Pong(_)) | None => {}
        }
        if let Some(event) = decoded.event {
            on_event(event);
        }
        self.try_flush();
        closed.map_or(Ok(n_consumed), Err)
    }

    /// Writes without keeping the reader waiting.
    fn poll_unsent(&mut self, cx: &mut Context<'_>) -> Result<(), ReceiveError> {
        match self.poll_write_unsent(cx) {
            Poll::Ready(Err(error)) => Err(lost(&error)),
            Poll::Ready(Ok(())) | Poll::Pending => Ok(()),
        }
    }

    fn poll_write_unsent(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.outgoing.unsent().is_empty() {
            let n_written = ready!(Pin::new(&mut self.stream).poll_write(cx, self.outgoing.unsent()))?;
            self.outgoing.forget(n_written);
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

/// The ending for a failed read. TLS reports an end without `close_notify` as an error.
fn ended(error: &io::Error) -> ReceiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ReceiveError::Ended,
        _ => lost(error),
    }
}

fn lost(error: &io::Error) -> ReceiveError {
    ReceiveError::Lost(error.kind())
}
