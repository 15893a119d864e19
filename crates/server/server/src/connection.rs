//! A session's socket, shared by the task that reads from it and the loops that write to it.

use std::{
    cell::{Cell, RefCell},
    io::{self, IoSlice},
    os::fd::BorrowedFd,
    rc::Rc,
};

use crate::{ending::Ending, liveness::Liveness, open_connections::OpenConnection, stream::Stream};

/// The connection of one session.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Dropped before the stream, because a client that sees the end of the stream may reconnect at once.
    _counted: OpenConnection,
    stream: Stream,
    /// Whether the peer understands cable messages such as `disconnect`.
    pub(crate) speaks_cable: bool,
    /// The session's id.
    pub(crate) sid: Rc<str>,
    /// Whether TCP ends as soon as the last words are out, because nothing that the peer could still send matters.
    pub(crate) hangs_up: Cell<bool>,
    /// The reason why the server ends the session. `None` while it is not ending.
    pub(crate) ending: Cell<Option<Ending>>,
    /// Whether the client answers pings.
    pub(crate) liveness: Liveness,
    /// Whether the client understands that it may have missed messages.
    pub(crate) hears_of_losses: Cell<bool>,
    /// Whether both directions have ended.
    is_cut: Cell<bool>,
}

impl Connection {
    pub(crate) fn new(stream: Stream, speaks_cable: bool, sid: Rc<str>, counted: OpenConnection) -> Self {
        Self {
            stream,
            speaks_cable,
            sid,
            hangs_up: Cell::new(false),
            ending: Cell::new(None),
            liveness: Liveness::default(),
            hears_of_losses: Cell::new(false),
            is_cut: Cell::new(false),
            _counted: counted,
        }
    }

    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.stream.readable().await
    }

    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.stream.writable().await
    }

    /// Reads the bytes that have arrived. 0 is the end of the stream.
    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.try_read(buffer)
    }

    /// Reads and discards bytes until the peer ends the connection or the connection is cut.
    pub(crate) async fn until_ended(&self, scratch: &RefCell<Box<[u8]>>) {
        while self.readable().await.is_ok() {
            match self.try_read(&mut scratch.borrow_mut()) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }

    /// Writes as many bytes as the socket takes. Without slices, writes only the bytes that the connection itself
    /// holds.
    pub(crate) fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.stream.try_write(slices)
    }

    /// The socket, if bytes go out as they are.
    pub(crate) fn plain_socket(&self) -> Option<BorrowedFd<'_>> {
        self.stream.plain_socket()
    }

    /// The bytes that the connection itself holds while its socket is full.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.stream.unsent_bytes()
    }

    /// Shuts down the writing direction. This ends an event stream, and the peer hangs up.
    pub(crate) fn finish(&self) {
        self.stream.finish();
    }

    /// Ends both directions. The reading task sees the end of the stream and cleans up; a waiting writer wakes, too.
    pub(crate) fn cut(&self) {
        self.is_cut.set(true);
        self.stream.cut();
    }

    /// Whether the server has cut the connection.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.get()
    }
}
