//! A connection with or without TLS, behind one type.
//!
//! An enum and not a trait object, because ten thousand idle connections of a worker have one each, and a plain one
//! must cost no more than its socket.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::dial::Counted;

/// Bytes to and from a server.
#[derive(Debug)]
pub(crate) enum Stream {
    /// Plain bytes.
    Plain(Counted),
    /// Encrypted bytes. Boxed, because it is thirty times as large as the other variant.
    Tls(Box<TlsStream<Counted>>),
}

impl Stream {
    /// Writes as many bytes as the socket takes at once. No task is woken for the rest: the caller writes again at its
    /// next poll. An error shows again then, too.
    ///
    /// Returns the number of bytes taken.
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> usize {
        let mut no_task = Context::from_waker(Waker::noop());
        let Poll::Ready(Ok(n_written)) = Pin::new(&mut *self).poll_write(&mut no_task, bytes) else {
            return 0;
        };
        // TLS may have taken the bytes without having written them.
        let _ = Pin::new(self).poll_flush(&mut no_task);
        n_written
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(cx, buffer),
            Self::Tls(tls) => Pin::new(tls).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
            Self::Tls(tls) => Pin::new(tls).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, slices),
            Self::Tls(tls) => Pin::new(tls).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Self::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}
