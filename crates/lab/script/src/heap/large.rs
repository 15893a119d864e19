//! Blocks that are too large for a span: each has its own memory.

use std::{
    alloc::{self, Layout},
    ptr,
};

use super::spans::{HEADER_BYTES, SPAN_BYTES};

/// The distance of a large block from a multiple of [`SPAN_BYTES`]: its size is stored before it. The distance
/// distinguishes it from blocks in spans, which have a longer header.
pub(super) const OFFSET: usize = 16;

const _: () = assert!(HEADER_BYTES > OFFSET);

/// A block; null when the system has no memory.
pub(super) fn take(size: usize) -> *mut u8 {
    let Some(layout) = layout(size) else {
        return ptr::null_mut();
    };
    // SAFETY: the layout has a size.
    let memory = unsafe { alloc::alloc(layout) };
    if memory.is_null() {
        return memory;
    }
    // SAFETY: the memory is new, has `OFFSET + size` bytes, and is aligned to more than a number needs.
    unsafe {
        memory.cast::<usize>().write(size);
        memory.add(OFFSET)
    }
}

/// How many bytes a large block has.
///
/// # Safety
/// It came from [`take`] and is in use.
pub(super) unsafe fn size(block: *mut u8) -> usize {
    // SAFETY: `take` wrote the size there.
    unsafe { block.sub(OFFSET).cast::<usize>().read() }
}

/// Takes a large block back.
///
/// # Safety
/// It came from [`take`] and is not used any more.
pub(super) unsafe fn give_back(block: *mut u8) {
    // SAFETY: as the caller says; the size is the one that the memory was taken with.
    unsafe {
        let layout = layout(size(block)).expect("there was memory of this layout");
        alloc::dealloc(block.sub(OFFSET), layout);
    }
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(OFFSET)?, SPAN_BYTES).ok()
}
