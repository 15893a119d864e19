//! The unused part of a coroutine's stack, and its way back to the system.
//!
//! A page of a stack takes memory from its first use on. What initialisation or a request used below the frames that wait
//! would otherwise stay for as long as the virtual user lives.

use std::sync::OnceLock;

use corosensei::stack::{DefaultStack, Stack};

/// More than the switch from a stack puts below the address that [`Depth::give_back`] gets.
const FRAMES_OF_SWITCH: usize = 2 << 10;

/// The lower part of a stack, of which no page is in use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    /// The lowest address of the stack.
    limit: usize,
}

impl Depth {
    /// The whole of a new stack.
    pub(super) fn of(stack: &DefaultStack) -> Self {
        Self {
            limit: stack.limit().get(),
        }
    }

    /// Gives all pages back that lie wholly below the frame with a local variable at `address`. They are zero when they are
    /// used again.
    ///
    /// # Safety
    /// The address lies on the stack, which still exists. Its code has left it in the function of the local variable and
    /// runs only after this call.
    #[expect(
        unsafe_code,
        reason = "the system's interface for memory deals in bare addresses"
    )]
    pub(super) unsafe fn give_back(self, address: usize) {
        let page_bytes = page_bytes();
        let end = address.saturating_sub(FRAMES_OF_SWITCH) / page_bytes * page_bytes;
        let Some(n_bytes) = end.checked_sub(self.limit).filter(|n_bytes| *n_bytes > 0) else {
            return;
        };
        // SAFETY: the pages belong to the stack, which is private memory, and no frame is on them. A failure changes nothing.
        unsafe {
            libc::madvise(
                std::ptr::without_provenance_mut(self.limit),
                n_bytes,
                libc::MADV_DONTNEED,
            );
        }
    }
}

fn page_bytes() -> usize {
    static PAGE_BYTES: OnceLock<usize> = OnceLock::new();
    *PAGE_BYTES.get_or_init(|| {
        // SAFETY: the call has no preconditions.
        #[expect(unsafe_code, reason = "C's functions are unsafe")]
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(page_bytes).expect("the system has pages")
    })
}

#[cfg(test)]
impl Depth {
    /// How much memory a stack of this size takes.
    pub(super) fn resident_bytes(self, stack_bytes: usize) -> usize {
        let mut pages = vec![0_u8; stack_bytes.div_ceil(page_bytes())];
        // SAFETY: the stack begins with a page that guards it, and is as long. There is a byte for each page.
        #[expect(unsafe_code, reason = "C's functions are unsafe")]
        let failed = unsafe {
            libc::mincore(
                std::ptr::without_provenance_mut(self.limit + page_bytes()),
                stack_bytes,
                pages.as_mut_ptr(),
            )
        };
        assert_eq!(failed, 0);
        pages.iter().filter(|page| **page & 1 == 1).count() * page_bytes()
    }
}
