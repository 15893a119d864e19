//! A session's socket, shared by the task that reads it and by the loops that write to it.

use std::{
    cell::{Cell, RefCell},
    io::{self, IoSlice},
    rc::Rc,
};

use crate::{ending::Ending, open_connections::OpenConnection, stream::Stream};

/// One connection with a session.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Dropped before the stream: a client that sees the end may come back at once.
    _counted: OpenConnection,
    stream: Stream,
    /// Whether the peer understands cable messages such as `disconnect`.
    pub(crate) speaks_cable: bool,
    /// The session's id.
    pub(crate) sid: Rc<str>,
    /// Whether TCP ends as soon as the last words are out: nothing that the peer could still say has a meaning.
    pub(crate) hangs_up: Cell<bool>,
    /// Why the server ends the session, once it does.
    pub(crate) ending: Cell<Option<Ending>>,
}

impl Connection {
    pub(crate) fn new(stream: Stream, speaks_cable: bool, sid: Rc<str>, counted: OpenConnection) -> Self {
        Self {
            stream,
            speaks_cable,
            sid,
            hangs_up: Cell::new(false),
            ending: Cell::new(None),
            _counted: counted,
        }
    }

    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.stream.readable().await
    }

    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.stream.writable().await
    }

    /// Reads what is there; 0 is the end of the stream.
    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.try_read(buffer)
    }

    /// Reads, and drops what it reads, until the peer ends the connection or it is cut.
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

    /// Writes what the socket takes; with no slices, what the connection itself still holds.
    pub(crate) fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.stream.try_write(slices)
    }

    /// Bytes that the connection itself holds while its socket is full.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.stream.unsent_bytes()
    }

    /// Says that nothing more will be written, as the end of an event stream does. The peer hangs up then.
    pub(crate) fn finish(&self) {
        self.stream.finish();
    }

    /// Ends both directions. The reading task sees the end of the stream and cleans up; a writer wakes too.
    pub(crate) fn cut(&self) {
        self.stream.cut();
    }
}
