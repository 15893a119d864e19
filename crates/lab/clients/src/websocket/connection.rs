//! An open WebSocket.
//!
//! Two ways to read, one at a time: [`Connection::poll_receive`] into the buffer of the thread, so that ten thousand
//! idle connections of one worker own no buffer; and [`Connection::next_message`] for users who do one thing after the
//! other. Both answer pings and the server's Close by themselves; a caller who first has to hand on what came before
//! that Close reads with [`Connection::poll_receive_unanswered`].

use std::{
    future::poll_fn,
    io,
    mem::MaybeUninit,
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use plimsoll_websocket::{CloseCode, Config, Decoder, Event, Opcode, Role, handshake::client::Accepted};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{Compression, Counters, Message, Options, Payload, ReceiveError, SendError, outgoing::Outgoing};
use crate::{scratch, stream::Stream};

/// The read size of [`Connection::next_message`]. A stack buffer, gone after the read.
const READ_BYTES: usize = 4096;

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
    /// How long a user that is done waits for the server's Close. A server that is there answers at once; one that does
    /// not must not hold up the end of a run, where thousands close at the same time.
    pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// The connection is over; events that came before have been handed out, and the server has been told.
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        on_event: impl FnMut(Instant, Event<'_>),
    ) -> Poll<Result<(), ReceiveError>> {
        let received = self.poll_receive_unanswered(cx, on_event);
        if let Poll::Ready(Err(ending)) = &received {
            self.answer_ending(ending);
        }
        received
    }

    /// Like [`poll_receive`](Self::poll_receive), but does not tell the server about the ending: the caller may still
    /// send, and then calls [`answer_ending`](Self::answer_ending). It must not read again.
    ///
    /// # Errors
    /// Nothing more will be received; earlier events have been passed on.
    pub fn poll_receive_unanswered(
        &mut self,
        cx: &mut Context<'_>,
        on_event: impl FnMut(Instant, Event<'_>),
    ) -> Poll<Result<(), ReceiveError>> {
        scratch::lend(|scratch| self.poll_receive_into(cx, scratch, on_event))
    }

    /// As [`poll_receive_unanswered`](Self::poll_receive_unanswered), into a buffer that is not empty.
    pub(super) fn poll_receive_into(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        mut on_event: impl FnMut(Instant, Event<'_>),
    ) -> Poll<Result<(), ReceiveError>> {
        self.poll_unsent(cx)?;
        if !self.unread.is_empty() {
            let mut unread = std::mem::take(&mut self.unread);
            return Poll::Ready(self.decode_all(&mut unread, self.unread_at, &mut on_event));
        }
        let mut buffer = ReadBuf::new(scratch);
        ready!(self.poll_read(cx, &mut buffer))?;
        let at = Instant::now();
        Poll::Ready(self.decode_all(buffer.filled_mut(), at, &mut on_event))
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
            match self.decode_unread() {
                Ok(None) => poll_fn(|cx| self.poll_fill_unread(cx)).await?,
                Ok(Some(payload)) => {
                    return Ok(Message {
                        at: self.unread_at,
                        payload,
                    });
                }
                Err(ending) => {
                    self.answer_ending(&ending);
                    return Err(ending);
                }
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

    /// Says Close with code 1000 and waits for the server's Close or the end of the stream, at most `timeout`.
    /// Messages that arrive meanwhile are dropped. The server ends the TCP connection first when it follows RFC
    /// 6455 §7.1.1, so that our local port is free at once and not held for a minute in `TIME_WAIT`.
    ///
    /// [`CLOSE_TIMEOUT`](Self::CLOSE_TIMEOUT) is enough for a user that waits for nothing else.
    pub async fn close(&mut self, timeout: Duration) {
        // Errors while closing do not matter: the connection is over in any case.
        let _ = tokio::time::timeout(timeout, self.say_close()).await;
    }

    async fn say_close(&mut self) {
        self.outgoing.start_close(CloseCode::NORMAL, "");
        while poll_fn(|cx| self.poll_receive(cx, |_, _| {})).await.is_ok() {}
        // The server has sent its Close; only the end of the stream is left.
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

    fn poll_fill_unread(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ReceiveError>> {
        self.poll_unsent(cx)?;
        let mut buffer = [MaybeUninit::uninit(); READ_BYTES];
        let mut buffer = ReadBuf::uninit(&mut buffer);
        ready!(self.poll_read(cx, &mut buffer))?;
        self.unread_at = Instant::now();
        self.unread.extend_from_slice(buffer.filled());
        Poll::Ready(Ok(()))
    }

    /// Decodes all of `bytes`.
    fn decode_all(
        &mut self,
        mut bytes: &mut [u8],
        at: Instant,
        on_event: &mut impl FnMut(Instant, Event<'_>),
    ) -> Result<(), ReceiveError> {
        while !bytes.is_empty() {
            let n_consumed = self.decode_one(bytes, |event| on_event(at, event))?;
            bytes = &mut bytes[n_consumed..];
        }
        Ok(())
    }

    /// Decodes from `unread` until a message is complete or no bytes are left.
    fn decode_unread(&mut self) -> Result<Option<Payload>, ReceiveError> {
        let mut payload = None;
        let mut unread = std::mem::take(&mut self.unread);
        let mut n_done = 0;
        while payload.is_none() && n_done < unread.len() {
            n_done += self.decode_one(&mut unread[n_done..], |event| payload = Payload::of(event))?;
        }
        if n_done < unread.len() {
            unread.drain(..n_done);
            self.unread = unread;
        }
        Ok(payload)
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
