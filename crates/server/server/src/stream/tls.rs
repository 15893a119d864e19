//! One TLS connection over a socket that never waits.

use std::{
    io::{self, IoSlice, Read, Write},
    sync::Arc,
};

use rustls::{ServerConfig, ServerConnection};
use tokio::net::TcpStream;

/// The most encrypted bytes that wait for a full socket: one full record (RFC 8446 §5.1). The rest stays in the
/// session's outbox, where it is shared and counted. A smaller limit would make more records.
pub(super) const MAX_UNSENT_BYTES: usize = 16 * 1024;

/// The state of one TLS connection.
#[derive(Debug)]
pub(super) struct TlsSession {
    connection: ServerConnection,
    /// Whether the peer broke the protocol, so that nothing more can be read.
    has_failed: bool,
}

impl TlsSession {
    pub(super) fn new(config: Arc<ServerConfig>) -> io::Result<Self> {
        let mut connection = ServerConnection::new(config).map_err(io::Error::other)?;
        connection.set_buffer_limit(Some(MAX_UNSENT_BYTES));
        Ok(Self {
            connection,
            has_failed: false,
        })
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Fills `buffer` with the bytes that have arrived. The socket is read only when no plaintext is left. So while
    /// plaintext is left, the socket has not returned `WouldBlock`, and a task that waits for it to be readable does
    /// not block.
    pub(super) fn read(&mut self, socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        let mut n_read = 0;
        while n_read < buffer.len() {
            match self.connection.reader().read(&mut buffer[n_read..]) {
                Ok(0) => break,
                Ok(n) => n_read += n,
                // The peer hung up without `close_notify`. Messages and requests mark their own ends.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => match self.receive(socket) {
                    Ok(_) => {}
                    // The bytes read before the fault are good. The next call reports the fault again.
                    Err(_) if n_read > 0 => break,
                    Err(error) => return Err(error),
                },
                Err(error) => return Err(error),
            }
        }
        Ok(n_read)
    }

    /// Reads and decrypts what the socket has. Returns the number of bytes, 0 at the end of the stream. A peer that
    /// breaks the protocol gets an alert.
    pub(super) fn receive(&mut self, socket: &TcpStream) -> io::Result<usize> {
        if self.has_failed {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let n_received = self.connection.read_tls(&mut NonBlocking(socket))?;
        self.connection
            .process_new_packets()
            .map(|_| n_received)
            .map_err(|error| {
                self.has_failed = true;
                let _the_peer_may_not_take_the_alert = self.flush(socket);
                io::Error::new(io::ErrorKind::InvalidData, error)
            })
    }

    /// Encrypts as many bytes as fit and writes them; see [`Stream::try_write`](super::Stream::try_write).
    pub(super) fn write(&mut self, socket: &TcpStream, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.flush(socket)?;
        if slices.is_empty() {
            return Ok(0);
        }
        let n_taken = self.connection.writer().write_vectored(slices)?;
        if n_taken == 0 {
            // The keys have reached their usage limit (RFC 8446 §5.5).
            return Err(io::ErrorKind::WriteZero.into());
        }
        match self.flush(socket) {
            // The bytes count as taken; the next call returns `WouldBlock`.
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(n_taken),
        }
    }

    /// Writes encrypted bytes to the socket. Returns `WouldBlock` while some are left.
    pub(super) fn flush(&mut self, socket: &TcpStream) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut NonBlocking(socket))?;
        }
        Ok(())
    }

    /// Sends `close_notify`, if the socket has room.
    pub(super) fn say_goodbye(&mut self, socket: &TcpStream) {
        if self.has_failed {
            return;
        }
        self.connection.send_close_notify();
        let _best_effort = self.flush(socket);
    }
}

/// The socket as a reader and writer that returns `WouldBlock`.
struct NonBlocking<'a>(&'a TcpStream);

impl Read for NonBlocking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}

impl Write for NonBlocking<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(slices)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
