//! Bytes on sockets, counted while they move.

use std::{
    cell::Cell,
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// Bytes that went over the connections of one owner, below TLS.
#[derive(Debug, Default)]
pub struct Traffic {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Traffic {
    /// Bytes sent and received since the last call.
    pub fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }
}

/// A TCP connection that counts.
#[derive(Debug)]
pub struct Counted {
    stream: TcpStream,
    traffic: Rc<Traffic>,
}

impl Counted {
    pub(crate) fn new(stream: TcpStream, traffic: Rc<Traffic>) -> Self {
        Self { stream, traffic }
    }

    /// Reads bytes that have already arrived, without waiting. Makes a system call only if there may be some.
    ///
    /// # Errors
    /// `WouldBlock` if there are none, and errors of the connection.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.try_read(buffer)?;
        self.traffic.received.set(self.traffic.received.get() + n as u64);
        Ok(n)
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let n = buffer.filled().len() - n_before;
        self.traffic.received.set(self.traffic.received.get() + n as u64);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let n = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.traffic.sent.set(self.traffic.sent.get() + n as u64);
        Poll::Ready(Ok(n))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let n = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        self.traffic.sent.set(self.traffic.sent.get() + n as u64);
        Poll::Ready(Ok(n))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
