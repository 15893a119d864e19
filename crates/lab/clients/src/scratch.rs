//! The buffer that all connections of a thread read into, one at a time, so that an idle connection owns none.

use std::cell::RefCell;

/// One read nearly always empties the socket, whatever a storm of messages left in it.
const BYTES: usize = 64 << 10;

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; BYTES].into_boxed_slice());
}

/// Lends the buffer to `read`, which takes out what it wants to keep and reads from no other connection meanwhile.
pub(crate) fn lend<R>(read: impl FnOnce(&mut [u8]) -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| read(scratch))
}
