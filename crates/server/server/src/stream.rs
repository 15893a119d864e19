//! The bytes of one accepted connection, plain or inside TLS.
//!
//! TLS is driven by hand, because a session's task and the fan-out loop share a connection, and the loop writes without
//! waking any task. A plain connection pays one empty pointer for it.

use std::{
    cell::RefCell,
    io::{self, IoSlice},
    net::Shutdown,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

use rustls::ServerConfig;
use socket2::SockRef;
use tokio::net::TcpStream;

mod async_io;
mod tls;

use tls::TlsSession;

/// A connected socket whose reads and writes never wait.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: TcpStream,
    tls: Option<Box<RefCell<TlsSession>>>,
}

impl Stream {
    /// A stream on an accepted socket. With `tls`, returns after the handshake.
    ///
    /// # Errors
    /// The peer left, or does not speak TLS. It has got its alert then.
    pub(crate) async fn accept(socket: TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let tls = tls.map(TlsSession::new).transpose()?;
        let stream = Self {
            socket,
            tls: tls.map(|session| Box::new(RefCell::new(session))),
        };
        stream.shake_hands().await?;
        Ok(stream)
    }

    async fn shake_hands(&self) -> io::Result<()> {
        let Some(tls) = &self.tls else {
            return Ok(());
        };
        loop {
            let wrote = tls.borrow_mut().flush(&self.socket);
            match wrote {
                Ok(()) if !tls.borrow().is_handshaking() => return Ok(()),
                Ok(()) => {
                    self.socket.readable().await?;
                    let received = tls.borrow_mut().receive(&self.socket);
                    match received {
                        Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                        Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                        _ => {}
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.socket.writable().await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Completes when [`try_read`](Self::try_read) may have something.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    /// Completes when [`try_write`](Self::try_write) may take something.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    /// Reads the bytes that have arrived. 0 is the end of the stream.
    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.tls {
            None => self.socket.try_read(buffer),
            Some(tls) => tls.borrow_mut().read(&self.socket, buffer),
        }
    }

    /// Writes as many bytes as the socket takes. Without slices, only flushes bytes taken earlier, and returns
    /// `WouldBlock` while some are left. One slice goes through plain `send`, which is cheaper than `writev`.
    pub(crate) fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match (&self.tls, slices) {
            (Some(tls), _) => tls.borrow_mut().write(&self.socket, slices),
            (None, []) => Ok(0),
            (None, [slice]) => self.socket.try_write(slice),
            (None, _) => self.socket.try_write_vectored(slices),
        }
    }

    /// The socket, if bytes go out as they are.
    pub(crate) fn plain_socket(&self) -> Option<BorrowedFd<'_>> {
        self.tls.is_none().then(|| self.socket.as_fd())
    }

    /// Bytes that the stream holds while its socket is full: at most one TLS record.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.tls.as_ref().map_or(0, |_| tls::MAX_UNSENT_BYTES)
    }

    /// Ends both directions at once and wakes all tasks that wait for this stream.
    pub(crate) fn cut(&self) {
        self.shut_down(Shutdown::Both);
    }

    /// Shuts down the writing direction; best effort.
    pub(crate) fn finish(&self) {
        if let Some(tls) = &self.tls {
            tls.borrow_mut().say_goodbye(&self.socket);
        }
        self.shut_down(Shutdown::Write);
    }

    fn shut_down(&self, directions: Shutdown) {
        // An error means that the connection has already ended.
        let _already_ended = SockRef::from(&self.socket).shutdown(directions);
    }
}

/// Sends `close_notify`, so that the peer can tell a regular end from a cut connection (RFC 8446 §6.1).
impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.get_mut().say_goodbye(&self.socket);
        }
    }
}

#[cfg(test)]
mod tests;
