//! The memory of runtimes: small blocks, packed over all runtimes of a thread.
//!
//! The heap of one virtual user is some 1,500 blocks, nearly all below 500 bytes. The engine has pages for each size
//! of block, but a set per runtime, and half of that is air. The virtual users of a worker live on its thread, so here
//! they share the pages, and what one gives back another one takes. Blocks carry no header: what is known about them
//! stands at the beginning of the span of memory in which they lie.
//!
//! The engine hands every block over only when it is built without pages of its own: see `vendor/rquickjs-sys/README.md`.

#![expect(
    unsafe_code,
    reason = "the engine's interface for allocators is unsafe, as it deals in bare pointers"
)]

use std::{cell::RefCell, ptr, rc::Rc};

use rquickjs::allocator::Allocator;

mod large;
mod spans;

use self::spans::{SPAN_BYTES, SizeClass, Spans};

/// The memory of one runtime. The engine limits it (`Runtime::set_memory_limit`).
pub(crate) struct Heap(Rc<RefCell<Spans>>);

impl Heap {
    /// A heap that takes blocks from the spans that all heaps of this thread share.
    pub(crate) fn of_thread() -> Self {
        thread_local! {
            static SPANS: Rc<RefCell<Spans>> = Rc::default();
        }
        Self(SPANS.with(Rc::clone))
    }
}

// SAFETY: blocks of both kinds have at least the requested size and are aligned to 8 bytes (`spans::STEP`,
// `large::ALIGN`), which is at least usize's alignment. A block has one owner until it is freed. `usable_size` returns
// the size that was reserved.
unsafe impl Allocator for Heap {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        match SizeClass::of(size) {
            Some(class) => self.0.borrow_mut().take(class),
            None => large::take(size),
        }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(size) = count.checked_mul(size) else {
            return ptr::null_mut();
        };
        let block = self.alloc(size);
        if !block.is_null() {
            // SAFETY: the block is new and has `size` bytes.
            unsafe { block.write_bytes(0, size) };
        }
        block
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        if block.is_null() {
            return;
        }
        // SAFETY: the caller's block is one of ours, and which kind its address tells.
        unsafe {
            if is_large(block) {
                large::give_back(block);
            } else {
                self.0.borrow_mut().give_back(block);
            }
        }
    }

    unsafe fn realloc(&mut self, block: *mut u8, new_size: usize) -> *mut u8 {
        if block.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: the caller's block is one of ours.
        let size = unsafe { Self::usable_size(block) };
        let fits = match SizeClass::of(new_size) {
            Some(class) => size == class.block_bytes(),
            None => new_size <= size && size / 2 < new_size,
        };
        if fits {
            return block;
        }
        let moved = self.alloc(new_size);
        if !moved.is_null() {
            // SAFETY: both blocks have that many bytes, and the new one is apart from the old one, which ends here.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, size.min(new_size));
                self.dealloc(block);
            }
        }
        moved
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        if block.is_null() {
            return 0;
        }
        // SAFETY: the caller's block is one of ours, and which kind its address tells.
        unsafe {
            if is_large(block) {
                large::size(block)
            } else {
                spans::block_bytes(block)
            }
        }
    }
}

/// Whether a block has its own memory, outside of spans. Such blocks begin where a span would have its header.
fn is_large(block: *mut u8) -> bool {
    block.addr() % SPAN_BYTES == large::OFFSET
}

#[cfg(test)]
mod tests;
