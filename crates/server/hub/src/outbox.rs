//! Frames that wait for one connection.

use std::{collections::VecDeque, io::IoSlice, rc::Rc};

use smallvec::SmallVec;

use crate::{Budget, Frame};

/// Slices handed to one vectored write. Linux takes up to 1,024; beyond a few dozen the copy dominates.
const MAX_SLICES: usize = 64;

/// Room that an empty outbox keeps (in slots of 8 bytes): enough for steady traffic, too little to matter
/// for an idle connection.
const KEPT_CAPACITY: usize = 16;

/// What one place in the queue costs.
const SLOT: usize = size_of::<Frame>();

/// The most that may wait for one session in any case, so that its counters fit: one gigabyte.
const MAX_PENDING_BYTES: usize = 1 << 30;

/// Bytes on their way to one connection, in order.
///
/// Capacity: while the connection takes bytes there is no limit but what the shard stages between two
/// flushes (the frames are shared, so that is small). Once a write found it full ([`Outbox::is_blocked`]),
/// [`Outbox::held_bytes`] is capped; the overflow rule is that the push fails, and the session must end.
#[derive(Debug)]
pub struct Outbox {
    frames: VecDeque<Frame>,
    budget: Rc<Budget>,
    pending_bytes: u32,
    /// How much of the first frame went out already.
    n_written_of_first: u32,
    /// Bytes that the session occupies elsewhere.
    n_reserved: u32,
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
    pub(crate) fn new(budget: &Rc<Budget>) -> Self {
        Self {
            frames: VecDeque::new(),
            budget: Rc::clone(budget),
            pending_bytes: 0,
            n_written_of_first: 0,
            n_reserved: 0,
            is_blocked: false,
            is_sealed: false,
        }
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// [`PushError::Sealed`] after [`Outbox::seal`]; [`PushError::Full`] when the connection is known to be
    /// blocked and the session would occupy more than `max_held_bytes` (a single frame is always taken into an
    /// empty outbox), or more than a gigabyte would wait.
    pub fn push(&mut self, frame: Frame, max_held_bytes: usize) -> Result<(), PushError> {
        if self.is_sealed {
            return Err(PushError::Sealed);
        }
        let pending_bytes = self.pending_bytes() + frame.len();
        if pending_bytes > MAX_PENDING_BYTES || self.would_pass(max_held_bytes, &frame) {
            return Err(PushError::Full);
        }
        self.pending_bytes = small(pending_bytes);
        let capacity = self.frames.capacity();
        self.frames.push_back(frame);
        self.count_slots_since(capacity);
        Ok(())
    }

    fn would_pass(&self, max_held_bytes: usize, frame: &Frame) -> bool {
        self.is_blocked
            && self.pending_bytes > 0
            && self.held_bytes() + frame.len() + Frame::OVERHEAD + self.growth() > max_held_bytes
    }

    /// Bytes by which another frame would enlarge the queue: a full one doubles.
    fn growth(&self) -> usize {
        match self.frames.capacity() {
            full if full == self.frames.len() => full * SLOT,
            _ => 0,
        }
    }

    /// The memory that the session occupies: what waits with the queue that it stands in, as if no frame were shared,
    /// and what is [reserved](Self::reserve) for it.
    pub fn held_bytes(&self) -> usize {
        self.pending_bytes()
            + self.n_written_of_first as usize
            + self.frames.len() * Frame::OVERHEAD
            + self.frames.capacity() * SLOT
            + self.n_reserved as usize
    }

    /// Counts memory that the session occupies elsewhere: a message that has not arrived completely, say.
    pub fn reserve(&mut self, n_bytes: usize) {
        self.n_reserved += small(n_bytes);
        self.budget.add(n_bytes);
    }

    /// Takes back [`reserve`](Self::reserve), as far as [`abandon`](Self::abandon) has not done it.
    pub fn unreserve(&mut self, n_bytes: usize) {
        let n_bytes = small(n_bytes).min(self.n_reserved);
        self.n_reserved -= n_bytes;
        self.budget.sub(n_bytes as usize);
    }

    /// The queue's capacity has changed: counts the difference.
    fn count_slots_since(&self, capacity: usize) {
        if self.frames.capacity() != capacity {
            self.budget.sub(counted_slots(capacity) * SLOT);
            self.budget.add(counted_slots(self.frames.capacity()) * SLOT);
        }
    }

    /// Appends a session's last frame, whatever the cap, and seals. Without bytes it only seals.
    pub fn seal_with(&mut self, last_words: Vec<u8>) {
        if !last_words.is_empty() {
            let frame = Frame::new(last_words, &self.budget);
            // An outbox in which a gigabyte waits does not take it: that client reads nothing anyway.
            let _fits = self.push(frame, usize::MAX);
        }
        self.seal();
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
            .map_or(0, |frame| small(frame.len()) - self.n_written_of_first);
        let capacity = self.frames.capacity();
        self.frames.shrink_to_fit();
        self.count_slots_since(capacity);
    }

    /// Whether ending the session would free memory for others: its connection takes no more, or something is
    /// reserved for it.
    pub(crate) fn is_holding(&self) -> bool {
        !self.is_sealed && (self.is_blocked || self.n_reserved > 0)
    }

    /// Drops everything at once, gives back what is reserved, and seals: for a connection that is about to be cut.
    pub fn abandon(&mut self) {
        self.n_written_of_first = 0;
        self.drop_unsent();
        self.unreserve(self.n_reserved as usize);
        self.seal();
    }

    /// Lets everything that is pushed wait until [`Outbox::release`], capped as behind a full connection. For an
    /// outbox from which nothing was written yet.
    pub fn hold(&mut self) {
        self.is_blocked = true;
    }

    /// Ends a [`hold`](Self::hold): `first` goes out before everything that was held, and even when the outbox was
    /// sealed meanwhile. The caller flushes.
    pub fn release(&mut self, first: Frame) {
        self.pending_bytes += small(first.len());
        let capacity = self.frames.capacity();
        self.frames.push_front(first);
        self.count_slots_since(capacity);
        self.is_blocked = false;
    }

    /// Bytes not yet taken by the connection.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes as usize
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
        let capacity = self.frames.capacity();
        if capacity > KEPT_CAPACITY {
            self.frames = VecDeque::new();
            self.count_slots_since(capacity);
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
        let first = &first[self.n_written_of_first as usize..];
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
        self.pending_bytes -= small(n_written);
        self.n_written_of_first += small(n_written);
        while let Some(first) = self.frames.front()
            && self.n_written_of_first as usize >= first.len()
        {
            self.n_written_of_first -= small(first.len());
            self.frames.pop_front();
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.budget
            .sub(counted_slots(self.frames.capacity()) * SLOT + self.n_reserved as usize);
    }
}

/// Slots that count in the budget: what an empty outbox keeps is the idle session's, not waiting data.
fn counted_slots(capacity: usize) -> usize {
    capacity.saturating_sub(KEPT_CAPACITY)
}

/// Counters are narrow, because every idle session has them.
fn small(n_bytes: usize) -> u32 {
    u32::try_from(n_bytes).expect("no more waits than MAX_PENDING_BYTES and one frame")
}

#[cfg(test)]
mod tests;
