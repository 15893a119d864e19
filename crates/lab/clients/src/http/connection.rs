//! An HTTP/1.1 connection: one exchange at a time, read into a buffer of the whole thread.

use std::{
    future::poll_fn,
    io::{self, IoSlice},
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Instant,
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{HttpError, TlsFacts, exchange::Marks, response_reader::ResponseReader};
use crate::{scratch, stream::Stream};

/// An open connection, with or without TLS.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream,
    pub(super) remote: SocketAddr,
    pub(super) tls: Option<TlsFacts>,
}

/// An exchange failed.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) error: HttpError,
    /// Whether the connection returned any bytes: then the request must not be repeated.
    pub(super) has_response: bool,
}

/// A request that is being sent, and the response.
struct Transfer<'a> {
    head: &'a [u8],
    body: &'a [u8],
    n_sent: usize,
    write_error: Option<io::Error>,
    reader: &'a mut ResponseReader,
    marks: &'a mut Marks,
}

impl Connection {
    pub(super) fn new(stream: Stream, remote: SocketAddr, tls: Option<TlsFacts>) -> Self {
        Self { stream, remote, tls }
    }

    /// Gives the stream away, for another protocol.
    pub(super) fn into_stream(self) -> Stream {
        self.stream
    }

    /// Whether the server left the connection open and silent. Makes a system call only if bytes or the end have
    /// arrived.
    pub(super) async fn is_idle(&mut self) -> bool {
        match &mut self.stream {
            Stream::Plain(stream) => {
                let read = stream.try_read(&mut [0]);
                read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
            }
            // The bytes may belong to TLS itself.
            Stream::Tls(stream) => {
                let mut byte = [0];
                let mut buffer = ReadBuf::new(&mut byte);
                poll_fn(|cx| Poll::Ready(Pin::new(&mut *stream).poll_read(cx, &mut buffer).is_pending()))
                    .await
            }
        }
    }

    /// Sends a request and reads the response, both at once: a server may answer early.
    pub(super) async fn exchange(
        &mut self,
        head: &[u8],
        body: &[u8],
        reader: &mut ResponseReader,
        marks: &mut Marks,
    ) -> Result<(), Broken> {
        let mut transfer = Transfer {
            head,
            body,
            n_sent: 0,
            write_error: None,
            reader,
            marks,
        };
        let outcome = poll_fn(|cx| transfer.poll(&mut self.stream, cx)).await;
        outcome.map_err(|error| Broken {
            error,
            has_response: transfer.marks.first_byte.is_some(),
        })
    }
}

impl Transfer<'_> {
    fn poll(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        if self.marks.sent.is_none()
            && self.write_error.is_none()
            && let Poll::Ready(Err(error)) = self.poll_send(stream, cx)
        {
            // The server may have sent a reason before it closed the connection.
            self.write_error = Some(error);
        }
        while !self.reader.is_done() {
            let n_read = ready!(self.poll_read(stream, cx))?;
            if n_read == 0 {
                self.reader.end().map_err(|error| self.unanswered(error))?;
                break;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_send(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let n_head_bytes = self.head.len();
        while self.n_sent < n_head_bytes + self.body.len() {
            let n = if self.n_sent < n_head_bytes && !self.body.is_empty() {
                let slices = [IoSlice::new(&self.head[self.n_sent..]), IoSlice::new(self.body)];
                ready!(Pin::new(&mut *stream).poll_write_vectored(cx, &slices))?
            } else if self.n_sent < n_head_bytes {
                ready!(Pin::new(&mut *stream).poll_write(cx, &self.head[self.n_sent..]))?
            } else {
                let rest = &self.body[self.n_sent - n_head_bytes..];
                ready!(Pin::new(&mut *stream).poll_write(cx, rest))?
            };
            if n == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.n_sent += n;
        }
        if let Stream::Tls(stream) = stream {
            ready!(Pin::new(stream).poll_flush(cx))?;
        }
        self.marks.sent = Some(Instant::now());
        Poll::Ready(Ok(()))
    }

    /// Reads; zero is the end.
    fn poll_read(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<Result<usize, HttpError>> {
        scratch::lend(|scratch| {
            let mut buffer = ReadBuf::new(scratch);
            if let Err(error) = ready!(Pin::new(stream).poll_read(cx, &mut buffer)) {
                return Poll::Ready(match error.kind() {
                    // The server has closed TCP without closing TLS: for a body that ends so, that is its end.
                    io::ErrorKind::UnexpectedEof => Ok(0),
                    _ => Err(self.unanswered(HttpError::Lost {
                        doing: "read",
                        source: error,
                    })),
                });
            }
            let bytes = buffer.filled();
            if !bytes.is_empty() {
                self.marks.first_byte.get_or_insert_with(Instant::now);
                self.reader.feed(bytes)?;
            }
            Poll::Ready(Ok(bytes.len()))
        })
    }

    /// Why there is no response: the first error.
    fn unanswered(&mut self, error: HttpError) -> HttpError {
        self.write_error.take().map_or(error, |source| HttpError::Lost {
            doing: "write",
            source,
        })
    }
}
