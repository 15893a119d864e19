//! Writes one frame to many sockets: with a system call for each, or through `io_uring`.

use std::{
    io::{self, Write},
    net::TcpStream,
    os::fd::AsRawFd,
};

use io_uring::{IoUring, opcode, types::Fd};

/// The sends of one system call, as many as the server's.
const MAX_SENDS: usize = 64;

/// The way of a frame to its socket.
pub(super) enum Writer {
    /// A `send` for each socket.
    SystemCalls,
    /// One system call for [`MAX_SENDS`] sockets.
    Ring(Box<IoUring>),
}

impl Writer {
    /// A writer that only the calling thread may use.
    ///
    /// # Errors
    /// The kernel is older than Linux 6.1, or does not permit `io_uring`.
    pub(super) fn ring() -> io::Result<Self> {
        // As the server's on these kernels.
        IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(MAX_SENDS as u32)
            .map(|ring| Self::Ring(Box::new(ring)))
    }

    /// Writes the frame to every socket.
    pub(super) fn write(&mut self, sockets: &[TcpStream], frame: &[u8]) -> io::Result<()> {
        match self {
            Self::SystemCalls => sockets
                .iter()
                .try_for_each(|mut socket| whole(socket.write(frame)?, frame)),
            Self::Ring(ring) => sockets
                .chunks(MAX_SENDS)
                .try_for_each(|sockets| submit(ring, sockets, frame)),
        }
    }
}

fn submit(ring: &mut IoUring, sockets: &[TcpStream], frame: &[u8]) -> io::Result<()> {
    let n_bytes = u32::try_from(frame.len()).map_err(io::Error::other)?;
    for socket in sockets {
        let entry = opcode::Send::new(Fd(socket.as_raw_fd()), frame.as_ptr(), n_bytes)
            .flags(libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
            .build();
        #[expect(
            unsafe_code,
            reason = "the kernel reads the frame before this function returns"
        )]
        // SAFETY: the call below returns when all entries have been carried out, and an error ends the process's use
        // of the ring before the frame goes.
        unsafe { ring.submission().push(&entry) }.map_err(io::Error::other)?;
    }
    ring.submit_and_wait(sockets.len())?;
    for completion in ring.completion() {
        let n_written = usize::try_from(completion.result())
            .map_err(|_| io::Error::from_raw_os_error(-completion.result()))?;
        whole(n_written, frame)?;
    }
    Ok(())
}

/// A socket with an empty buffer takes a frame whole.
fn whole(n_written: usize, frame: &[u8]) -> io::Result<()> {
    if n_written != frame.len() {
        return Err(io::Error::other(
            "a socket with an empty buffer took a part of a frame only",
        ));
    }
    Ok(())
}
