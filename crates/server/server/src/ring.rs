//! Sends to many sockets with one system call, through `io_uring` (docs/decisions/0002-one-thread-per-core.md).
//!
//! No send waits: the kernel carries each out, or finds the socket full, before the call returns. So the bytes are borrowed for one
//! call, and the ring holds nothing between two of them.

use std::{
    io::{self, IoSlice},
    os::fd::{AsRawFd, BorrowedFd},
};

use io_uring::{IoUring, opcode, squeue, types::Fd};
use smallvec::SmallVec;

/// The most sends of one call. With more of them each one costs more.
pub(crate) const MAX_SENDS: usize = 64;

/// A full socket is an error, and so is one whose peer is gone.
const FLAGS: i32 = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

/// Finds out whether the kernel permits `io_uring`.
///
/// # Errors
/// It does not.
pub fn try_io_uring() -> io::Result<()> {
    Ring::new().map(drop)
}

/// Bytes for a socket.
pub(crate) struct Send<'a> {
    pub(crate) socket: BorrowedFd<'a>,
    /// At least one, none of them empty.
    pub(crate) slices: SmallVec<[IoSlice<'a>; 2]>,
}

/// The result of a send: the number of bytes, or why there are none. `None`: it was not tried.
pub(crate) type Sent = Option<io::Result<usize>>;

/// A queue for sends. It stays on its thread.
pub(crate) struct Ring {
    ring: IoUring,
    /// The kernel has refused a call; sends that it did not take may be in the queue.
    is_broken: bool,
}

impl Ring {
    /// A ring of this thread.
    ///
    /// # Errors
    /// The kernel has none, or does not permit it.
    pub(crate) fn new() -> io::Result<Self> {
        // From Linux 6.1 on: the ring is of one thread, and the kernel does not interrupt it.
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(MAX_SENDS as u32)
            .or_else(|_| IoUring::new(MAX_SENDS as u32))?;
        Ok(Self {
            ring,
            is_broken: false,
        })
    }

    /// Sends to sockets, at most [`MAX_SENDS`]. Returns the results in their order.
    pub(crate) fn send(&mut self, sends: &[Send<'_>]) -> SmallVec<[Sent; MAX_SENDS]> {
        let mut results: SmallVec<[Sent; MAX_SENDS]> = sends.iter().map(|_| None).collect();
        if self.is_broken {
            return results;
        }
        let messages: SmallVec<[libc::msghdr; MAX_SENDS]> = sends.iter().map(message).collect();
        for (index, (send, message)) in sends.iter().zip(&messages).enumerate() {
            let entry = entry(send, message).user_data(index as u64);
            #[expect(
                unsafe_code,
                reason = "what the entry points to lives until the kernel is done with it, at the end of this function"
            )]
            // SAFETY: `complete` returns when each entry has been carried out, or was not taken and never will be.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            debug_assert!(pushed.is_ok(), "there is room for {MAX_SENDS} entries");
        }
        self.complete(&mut results);
        results
    }

    /// Has all entries carried out.
    fn complete(&mut self, results: &mut [Sent]) {
        let mut n_left = results.len();
        while n_left > 0 {
            match self.ring.submit_and_wait(n_left) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    tracing::warn!(
                        "A thread writes with a system call for each client from now on: io_uring fails ({error})."
                    );
                    self.is_broken = true;
                    n_left = 0;
                }
                _ => {}
            }
            for completion in self.ring.completion() {
                let result = completion.result();
                let sent = usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
                results[completion.user_data() as usize] = Some(sent);
                n_left = n_left.saturating_sub(1);
            }
        }
    }
}

/// The form of several slices.
fn message(send: &Send<'_>) -> libc::msghdr {
    #[expect(
        unsafe_code,
        reason = "the fields differ between libraries, and those that count are set below"
    )]
    // SAFETY: a message of zeros has no address, no slices and no control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    // An `IoSlice` has the form of an `iovec`, which the kernel only reads.
    message.msg_iov = send.slices.as_ptr().cast_mut().cast();
    message.msg_iovlen = send.slices.len() as _;
    message
}

fn entry(send: &Send<'_>, message: &libc::msghdr) -> squeue::Entry {
    let socket = Fd(send.socket.as_raw_fd());
    match &*send.slices {
        [slice] => {
            let n_bytes = u32::try_from(slice.len()).unwrap_or(u32::MAX);
            opcode::Send::new(socket, slice.as_ptr(), n_bytes)
                .flags(FLAGS)
                .build()
        }
        _ => opcode::SendMsg::new(socket, message).flags(FLAGS as u32).build(),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{ErrorKind, Read, Write},
        os::{fd::AsFd, unix::net::UnixStream},
    };

    use super::*;

    /// A ring. `None`: this machine does not permit it, and says so as the server expects.
    fn ring() -> Option<Ring> {
        let ring = Ring::new();
        if let Err(error) = &ring {
            let refusals = [libc::ENOSYS, libc::EPERM, libc::EACCES];
            assert!(refusals.contains(&error.raw_os_error().unwrap_or(0)), "{error}");
        }
        ring.ok()
    }

    fn pair() -> (UnixStream, UnixStream) {
        let (near, far) = UnixStream::pair().expect("a pair of sockets");
        near.set_nonblocking(true).expect("a socket");
        far.set_nonblocking(true).expect("a socket");
        (near, far)
    }

    fn send<'a>(socket: &'a UnixStream, parts: &[&'a [u8]]) -> Send<'a> {
        Send {
            socket: socket.as_fd(),
            slices: parts.iter().map(|part| IoSlice::new(part)).collect(),
        }
    }

    /// What a send is expected to do: the number of bytes, or the kind of its error.
    fn outcome(sent: &Sent) -> Result<usize, ErrorKind> {
        let sent = sent.as_ref().expect("it was tried");
        sent.as_ref().copied().map_err(io::Error::kind)
    }

    #[test]
    fn each_send_has_its_own_result() {
        let Some(mut ring) = ring() else {
            return;
        };
        let (one, mut of_one) = pair();
        let (several, mut of_several) = pair();
        let (mut full, _of_full) = pair();
        while full.write(&[0; 1 << 16]).is_ok() {}
        let (gone, _) = pair();
        let parts: Vec<String> = (0..100).map(|n| format!("{n},")).collect();
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        let n_bytes = parts.concat().len();
        for _ in 0..3 {
            let results = ring.send(&[
                send(&one, &[b"hello"]),
                send(&full, &[b"x"]),
                send(&several, &parts),
                send(&gone, &[b"x", b"y"]),
            ]);
            let results: Vec<_> = results.iter().map(outcome).collect();
            let expected = [
                Ok(5),
                Err(ErrorKind::WouldBlock),
                Ok(n_bytes),
                Err(ErrorKind::BrokenPipe),
            ];
            assert_eq!(results, expected);
            let mut read = [0; 1024];
            assert_eq!(
                of_one.read(&mut read).map(|n| read[..n].to_vec()).ok(),
                Some(b"hello".to_vec())
            );
            assert_eq!(
                of_several.read(&mut read).map(|n| read[..n].to_vec()).ok(),
                Some(parts.concat())
            );
        }
    }

    #[test]
    fn a_socket_with_little_room_takes_the_first_bytes() {
        let Some(mut ring) = ring() else {
            return;
        };
        let (near, mut far) = pair();
        let bytes: Vec<u8> = (0..1 << 22)
            .map(|n: u32| n.to_le_bytes()[n as usize % 3])
            .collect();
        let mut read = Vec::new();
        let mut n_sent = 0;
        while n_sent < bytes.len() {
            match outcome(&ring.send(&[send(&near, &[&bytes[n_sent..]])])[0]) {
                Ok(n) => n_sent += n,
                Err(error) => {
                    assert_eq!(error, ErrorKind::WouldBlock);
                    let _would_block = far.read_to_end(&mut read);
                }
            }
        }
        let _would_block = far.read_to_end(&mut read);
        assert!(read == bytes, "{} of {} bytes", read.len(), bytes.len());
    }

    #[test]
    fn a_full_batch_is_sent_whole() {
        let Some(mut ring) = ring() else {
            return;
        };
        let pairs: Vec<_> = (0..MAX_SENDS).map(|_| pair()).collect();
        let texts: Vec<String> = (0..MAX_SENDS).map(|n| n.to_string()).collect();
        let sends: Vec<_> = pairs
            .iter()
            .zip(&texts)
            .map(|((near, _), text)| send(near, &[text.as_bytes()]))
            .collect();
        let results = ring.send(&sends);
        for (((_, far), text), sent) in pairs.iter().zip(&texts).zip(&results) {
            assert_eq!(outcome(sent), Ok(text.len()));
            let mut read = [0; 8];
            let n = (&*far).read(&mut read).expect("it is there");
            assert_eq!(&read[..n], text.as_bytes());
        }
    }
}
