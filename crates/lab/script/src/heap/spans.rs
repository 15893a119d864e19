//! Spans: memory that is taken from the system at once and handed out as blocks of one size.

use std::{
    alloc::{self, Layout},
    ptr::{self, NonNull},
};

/// The size of a span, and what it is aligned to, so that the address of a block leads to the span. What was never
/// used of it takes no memory, only addresses; with large ones the system has few mappings to keep for thousands of
/// runtimes.
pub(super) const SPAN_BYTES: usize = 256 << 10;

/// Sizes of blocks are multiples of this.
const STEP: usize = 8;

/// Up to here there are blocks of every multiple of [`STEP`]: nearly all blocks of an engine are that small, and a
/// coarser step would leave 4 KB more of a virtual user's memory unused.
const MOST_IN_STEPS: usize = 512;

/// Beyond that there are so many sizes between a power of two and the next: an eighth of a block is unused at most.
const SIZES_PER_DOUBLING: usize = 8;

/// Up to here blocks are in spans; a span has room for 7 of the largest.
const MOST: usize = 32 << 10;

const CLASSES: usize = MOST_IN_STEPS / STEP + (MOST / MOST_IN_STEPS).ilog2() as usize * SIZES_PER_DOUBLING;

/// One of the block sizes in spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeClass(usize);

impl SizeClass {
    /// The smallest that holds `size` bytes; `None` when that is too large for a span.
    pub(super) fn of(size: usize) -> Option<Self> {
        if size <= MOST_IN_STEPS {
            return Some(Self(size.max(1).div_ceil(STEP) - 1));
        }
        if size > MOST {
            return None;
        }
        let doubling = ((size - 1) / MOST_IN_STEPS).ilog2() as usize;
        let base = MOST_IN_STEPS << doubling;
        let above = (size - base).div_ceil(base / SIZES_PER_DOUBLING);
        Some(Self(
            MOST_IN_STEPS / STEP + doubling * SIZES_PER_DOUBLING + above - 1,
        ))
    }

    /// The size of its blocks in bytes.
    pub(super) fn block_bytes(self) -> usize {
        match self.0.checked_sub(MOST_IN_STEPS / STEP) {
            None => (self.0 + 1) * STEP,
            Some(beyond) => {
                let base = MOST_IN_STEPS << (beyond / SIZES_PER_DOUBLING);
                base + (beyond % SIZES_PER_DOUBLING + 1) * (base / SIZES_PER_DOUBLING)
            }
        }
    }
}

/// The header of a span; its blocks follow.
struct Span {
    class: SizeClass,
    /// The size of its blocks in bytes.
    block_bytes: usize,
    /// The block that was given back last; it holds the address of the one before, and so on.
    free: *mut u8,
    /// The offset of the never used blocks in the span.
    fresh: usize,
    /// The number of blocks in use.
    used: usize,
}

impl Span {
    fn is_full(&self) -> bool {
        self.free.is_null() && self.fresh + self.block_bytes > SPAN_BYTES
    }
}

/// The spans of a thread.
pub(super) struct Spans {
    /// The spans with room, by size. Full spans are known by their blocks only.
    with_room: [Vec<NonNull<Span>>; CLASSES],
}

impl Default for Spans {
    fn default() -> Self {
        Self {
            with_room: std::array::from_fn(|_| Vec::new()),
        }
    }
}

impl Spans {
    /// A block; null when the system has no memory.
    pub(super) fn take(&mut self, class: SizeClass) -> *mut u8 {
        let with_room = &mut self.with_room[class.0];
        let span = match with_room.last() {
            Some(&span) => span,
            None => {
                let Some(span) = new_span(class) else {
                    return ptr::null_mut();
                };
                with_room.push(span);
                span
            }
        };
        // SAFETY: spans in the lists are live, and no other code accesses their headers meanwhile. A free block lies in
        // its span, has no owner, and holds an address. A fresh block lies inside the span, because the span is not
        // full.
        unsafe {
            let header = &mut *span.as_ptr();
            let mut block = header.free;
            if block.is_null() {
                block = span.as_ptr().cast::<u8>().add(header.fresh);
                header.fresh += header.block_bytes;
            } else {
                header.free = block.cast::<*mut u8>().read();
            }
            header.used += 1;
            if header.is_full() {
                with_room.pop();
            }
            block
        }
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// It came from [`Self::take`] of these spans and is not used any more.
    pub(super) unsafe fn give_back(&mut self, block: *mut u8) {
        let span = span_of(block);
        // SAFETY: the span of a block in use is live, and nothing else looks at its header meanwhile. The block is
        // free from now on and has room for an address.
        let (class, is_empty) = unsafe {
            let header = &mut *span.as_ptr();
            if header.is_full() {
                self.with_room[header.class.0].push(span);
            }
            block.cast::<*mut u8>().write(header.free);
            header.free = block;
            header.used -= 1;
            (header.class, header.used == 0)
        };
        let with_room = &mut self.with_room[class.0];
        // One is kept: the next block of this size is likely to come soon.
        if is_empty && with_room.len() > 1 {
            with_room.retain(|other| *other != span);
            // SAFETY: no block of it is in use, and no list has it.
            unsafe { end_span(span) };
        }
    }
}

impl Drop for Spans {
    fn drop(&mut self) {
        for &span in self.with_room.iter().flatten() {
            // SAFETY: spans in the lists are live. One with blocks in use, which a runtime would have leaked, stays.
            unsafe {
                if (*span.as_ptr()).used == 0 {
                    end_span(span);
                }
            }
        }
    }
}

/// How many bytes a block of a span has.
///
/// # Safety
/// The block is in use.
pub(super) unsafe fn block_bytes(block: *mut u8) -> usize {
    // SAFETY: the span of a block in use is live, and the size of its blocks never changes.
    unsafe { (*span_of(block).as_ptr()).block_bytes }
}

/// The span of a block.
fn span_of(block: *mut u8) -> NonNull<Span> {
    let span = block.map_addr(|address| address / SPAN_BYTES * SPAN_BYTES);
    NonNull::new(span.cast()).expect("no block lies in the first span of the address space")
}

fn new_span(class: SizeClass) -> Option<NonNull<Span>> {
    // SAFETY: the layout has a size.
    let memory = unsafe { alloc::alloc(LAYOUT) };
    let span = NonNull::new(memory.cast::<Span>())?;
    // SAFETY: the memory is new, large enough, and aligned to far more than a header needs.
    unsafe {
        span.write(Span {
            class,
            block_bytes: class.block_bytes(),
            free: ptr::null_mut(),
            fresh: size_of::<Span>(),
            used: 0,
        });
    }
    Some(span)
}

/// # Safety
/// It came from [`new_span`], and neither it nor its blocks are used any more.
unsafe fn end_span(span: NonNull<Span>) {
    // SAFETY: the span was taken from the system with this layout.
    unsafe { alloc::dealloc(span.as_ptr().cast(), LAYOUT) };
}

const LAYOUT: Layout = match Layout::from_size_align(SPAN_BYTES, SPAN_BYTES) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two is an alignment"),
};

/// The distance of the first block from the beginning of a span.
pub(super) const HEADER_BYTES: usize = size_of::<Span>();

// The first block is aligned.
const _: () = assert!(HEADER_BYTES.is_multiple_of(STEP));
