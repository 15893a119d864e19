//! Frames that wait for one connection.

use std::{collections::VecDeque, io::IoSlice, rc::Rc};

use smallvec::SmallVec;

/// One encoded frame, shared by every outbox of the shard that it waits in.
///
/// `Rc`, not `Arc`: a shard encodes its own copy, because a reference count that two cores change costs more
/// than the encoding.
pub type Frame = Rc<[u8]>;

/// Slices handed to one vectored write. Linux takes up to 1,024; beyond a few dozen the copy dominates.
const MAX_SLICES: usize = 64;

/// Room that an empty outbox keeps (in frames of 16 bytes): enough for steady traffic, too little to matter
/// for an idle connection.
const KEPT_CAPACITY: usize = 16;

/// Bytes on their way to one connection, in order.
///
/// Capacity: while the connection takes bytes there is no limit but what the shard stages between two
/// flushes (the frames are shared, so that is small). Once a write found it full ([`Outbox::is_blocked`]),
/// pending bytes are capped; the overflow rule is that the push fails, and the session must end.
#[derive(Debug, Default)]
pub struct Outbox {
    frames: VecDeque<Frame>,
    /// How much of the first frame went out already.
    n_written_of_first: usize,
    pending_bytes: usize,
    is_blocked: bool,
    is_sealed: bool,
}

/// Why a frame was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushError {
    /// The connection does not keep up: its pending bytes would pass the cap.
    Full,
    /// The session is about to end; nothing may follow its last frame.
    Sealed,
}

/// How a flush ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Everything went out.
    Complete,
    /// The connection takes no more for now.
    Blocked,
}

impl Outbox {
    /// Appends a frame.
    ///
    /// # Errors
    /// [`PushError::Sealed`] after [`Outbox::seal`]; [`PushError::Full`] when the connection is known to be
    /// blocked and `max_pending_bytes` would be passed (a single frame is always taken into an empty outbox).
    pub fn push(&mut self, frame: Frame, max_pending_bytes: usize) -> Result<(), PushError> {
        if self.is_sealed {
            return Err(PushError::Sealed);
        }
        let pending_bytes = self.pending_bytes + frame.len();
        if self.is_blocked && pending_bytes > max_pending_bytes && self.pending_bytes > 0 {
            return Err(PushError::Full);
        }
        self.pending_bytes = pending_bytes;
        self.frames.push_back(frame);
        Ok(())
    }

    /// Nothing may follow what is in the outbox now.
    pub fn seal(&mut self) {
        self.is_sealed = true;
    }

    /// Whether [`Outbox::seal`] was called.
    pub fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Drops every frame that has not begun to go out, so that a last word can be added without tearing a
    /// frame apart.
    pub fn drop_unsent(&mut self) {
        let kept = usize::from(self.n_written_of_first > 0);
        self.frames.truncate(kept);
        self.pending_bytes = self
            .frames
            .front()
            .map_or(0, |frame| frame.len() - self.n_written_of_first);
    }

    /// Lets everything that is pushed wait until [`Outbox::release`], capped as behind a full connection. For an
    /// outbox from which nothing was written yet.
    pub fn hold(&mut self) {
        self.is_blocked = true;
    }

    /// Ends a [`hold`](Self::hold): `first` goes out before everything that was held, and even when the outbox was
    /// sealed meanwhile. The caller flushes.
    pub fn release(&mut self, first: Frame) {
        self.pending_bytes += first.len();
        self.frames.push_front(first);
        self.is_blocked = false;
    }

    /// Bytes not yet taken by the connection.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// Frames not yet taken by the connection, one of which may be partly.
    pub fn n_frames(&self) -> usize {
        self.frames.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether the last write found the connection full and nobody has seen it drain since, or frames are held.
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Writes as much as `write` takes. `write` gets non-empty slices, returns the number of bytes taken, and
    /// says [`WouldBlock`](std::io::ErrorKind::WouldBlock) when the connection is full. At the end it gets no
    /// slices: a connection that has taken more than it could pass on (TLS) passes on the rest, or says
    /// `WouldBlock`.
    ///
    /// # Errors
    /// Any other error of `write`; the connection is then lost.
    pub fn flush(
        &mut self,
        mut write: impl FnMut(&[IoSlice<'_>]) -> std::io::Result<usize>,
    ) -> std::io::Result<Flush> {
        loop {
            match self.write_some(&mut write) {
                Ok(_) if self.frames.is_empty() => break,
                Ok(n_written) => self.advance(n_written),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    self.is_blocked = true;
                    return Ok(Flush::Blocked);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.is_blocked = false;
        if self.frames.capacity() > KEPT_CAPACITY {
            self.frames = VecDeque::new();
        }
        Ok(Flush::Complete)
    }

    fn write_some(
        &self,
        write: &mut impl FnMut(&[IoSlice<'_>]) -> std::io::Result<usize>,
    ) -> std::io::Result<usize> {
        let Some(first) = self.frames.front() else {
            return write(&[]);
        };
        let first = &first[self.n_written_of_first..];
        if self.frames.len() == 1 {
            return write(&[IoSlice::new(first)]);
        }
        let mut slices: SmallVec<[IoSlice<'_>; MAX_SLICES]> = SmallVec::new();
        slices.push(IoSlice::new(first));
        slices.extend(
            self.frames
                .iter()
                .skip(1)
                .take(MAX_SLICES - 1)
                .map(|frame| IoSlice::new(frame)),
        );
        write(&slices)
    }

    fn advance(&mut self, n_written: usize) {
        self.pending_bytes -= n_written;
        self.n_written_of_first += n_written;
        while let Some(first) = self.frames.front()
            && self.n_written_of_first >= first.len()
        {
            self.n_written_of_first -= first.len();
            self.frames.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
