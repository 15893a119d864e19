//! Frames that wait for one connection.

use std::{collections::VecDeque, io::IoSlice, rc::Rc};

use smallvec::SmallVec;

use crate::{Budget, Frame};

/// The most slices in one vectored write. Linux takes up to 1,024; beyond a few dozen the copy dominates.
const MAX_SLICES: usize = 64;

/// The capacity that an empty outbox keeps, in slots of 8 bytes: enough for steady traffic, too little to matter for an
/// idle connection.
const KEPT_CAPACITY: usize = 16;

/// The size of one slot in the queue.
const SLOT: usize = size_of::<Frame>();

/// The most pending bytes of one session in any case, so that its counters fit: one gigabyte.
const MAX_PENDING_BYTES: usize = 1 << 30;

/// Bytes on their way to one connection, in order.
///
/// Capacity: while the connection takes bytes the only limit is what the shard queues between two flushes (the frames
/// are shared, so that is little). After a write has found it full ([`Outbox::is_blocked`]), [`Outbox::held_bytes`] is
/// capped. Overflow rule: the push fails, and the session must end.
#[derive(Debug)]
pub struct Outbox {
    frames: VecDeque<Frame>,
    budget: Rc<Budget>,
    pending_bytes: u32,
    /// Bytes of the first frame that are already written.
    n_written_of_first: u32,
    /// Bytes that the session occupies elsewhere.
    n_reserved: u32,
    is_blocked: bool,
    is_sealed: bool,
}

/// Why a frame was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushError {
    /// The client reads too slowly: the pending bytes would exceed the cap.
    Full,
    /// The session is about to end, and its last frame is already queued.
    Sealed,
}

/// The result of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Everything was written.
    Complete,
    /// The connection is full.
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
    /// [`PushError::Sealed`] after [`Outbox::seal`]. [`PushError::Full`] if the connection is known to be full and the
    /// session would occupy more than `max_held_bytes` (an empty outbox always takes a single frame), or if more than a
    /// gigabyte would be pending.
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

    /// Bytes by which another frame would enlarge the queue. A full queue doubles.
    fn growth(&self) -> usize {
        match self.frames.capacity() {
            full if full == self.frames.len() => full * SLOT,
            _ => 0,
        }
    }

    /// The memory that the session occupies: pending frames, counted as if none were shared, their queue, and
    /// [reserved](Self::reserve) memory.
    pub fn held_bytes(&self) -> usize {
        self.pending_bytes()
            + self.n_written_of_first as usize
            + self.frames.len() * Frame::OVERHEAD
            + self.frames.capacity() * SLOT
            + self.n_reserved as usize
    }

    /// Counts memory that the session occupies elsewhere, for example for an incomplete message.
    pub fn reserve(&mut self, n_bytes: usize) {
        self.n_reserved += small(n_bytes);
        self.budget.add(n_bytes);
    }

    /// Reverts [`reserve`](Self::reserve), unless [`abandon`](Self::abandon) has done so.
    pub fn unreserve(&mut self, n_bytes: usize) {
        let n_bytes = small(n_bytes).min(self.n_reserved);
        self.n_reserved -= n_bytes;
        self.budget.sub(n_bytes as usize);
    }

    /// Counts the difference after a change of the queue's capacity.
    fn count_slots_since(&self, capacity: usize) {
        if self.frames.capacity() != capacity {
            self.budget.sub(counted_slots(capacity) * SLOT);
            self.budget.add(counted_slots(self.frames.capacity()) * SLOT);
        }
    }

    /// Appends a session's last frame, regardless of the cap, and seals the outbox. Without bytes it only seals.
    pub fn seal_with(&mut self, last_words: Vec<u8>) {
        if !last_words.is_empty() {
            let frame = Frame::new(last_words, &self.budget);
            // An outbox with a gigabyte of pending bytes refuses it. Its client reads nothing anyway.
            let _fits = self.push(frame, usize::MAX);
        }
        self.seal();
    }

    /// Seals the outbox: no frame may follow those that it holds.
    pub fn seal(&mut self) {
        self.is_sealed = true;
    }

    /// Whether [`Outbox::seal`] was called.
    pub fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Drops every frame of which no byte was written, so that a last frame can follow without tearing another one
    /// apart.
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

    /// Whether ending the session would free memory for others: its connection is full, or memory is reserved for it.
    pub(crate) fn is_holding(&self) -> bool {
        !self.is_sealed && (self.is_blocked || self.n_reserved > 0)
    }

    /// Drops all frames at once, releases reserved memory, and seals. For a connection that is about to be cut.
    pub fn abandon(&mut self) {
        self.n_written_of_first = 0;
        self.drop_unsent();
        self.unreserve(self.n_reserved as usize);
        self.seal();
    }

    /// Holds all frames until [`Outbox::release`], with the cap of a full connection. For an outbox from which no byte
    /// was written yet.
    pub fn hold(&mut self) {
        self.is_blocked = true;
    }

    /// Ends a [`hold`](Self::hold): `first` goes out before all held frames, even if the outbox was sealed meanwhile.
    /// The caller flushes.
    pub fn release(&mut self, first: Frame) {
        self.pending_bytes += small(first.len());
        let capacity = self.frames.capacity();
        self.frames.push_front(first);
        self.count_slots_since(capacity);
        self.is_blocked = false;
    }

    /// Bytes that the connection has not taken yet.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes as usize
    }

    /// Frames that the connection has not taken completely.
    pub fn n_frames(&self) -> usize {
        self.frames.len()
    }

    /// Whether no frame is pending.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether the last write found the connection full and no later one has drained the outbox, or frames are held.
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Writes as much as `write` takes. `write` gets non-empty slices and returns the number of bytes taken, or
    /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if the connection is full. At the end it is called without
    /// slices: a connection that buffers bytes itself (TLS) flushes them then, or returns `WouldBlock`.
    ///
    /// # Errors
    /// Any other error of `write`. The connection is then lost.
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
        let mut unsent = self.unsent();
        if self.frames.len() <= 1 {
            return write(unsent.next().as_slice());
        }
        let slices: SmallVec<[IoSlice<'_>; MAX_SLICES]> = unsent.collect();
        write(&slices)
    }

    /// The pending bytes, or the first of them.
    pub fn unsent(&self) -> impl Iterator<Item = IoSlice<'_>> {
        let frames = self.frames.iter().take(MAX_SLICES);
        frames.enumerate().map(|(index, frame)| {
            let n_written = if index == 0 {
                self.n_written_of_first as usize
            } else {
                0
            };
            IoSlice::new(&frame[n_written..])
        })
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

/// Slots that count in the budget. The capacity that an empty outbox keeps belongs to the idle session and does not
/// count.
fn counted_slots(capacity: usize) -> usize {
    capacity.saturating_sub(KEPT_CAPACITY)
}

/// Narrows a counter. Counters are narrow because every idle session has them.
fn small(n_bytes: usize) -> u32 {
    u32::try_from(n_bytes).expect("no more waits than MAX_PENDING_BYTES and one frame")
}

#[cfg(test)]
mod tests;
