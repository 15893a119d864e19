//! The memory of a script's objects outside of its engine's heap, with its own limit.

use std::{cell::Cell, rc::Rc};

use rquickjs::{Ctx, Exception, Result};

/// The most that the objects of one virtual user may hold: four of the largest pages.
const MAX_BYTES: usize = 256 << 20;

/// The account of one virtual user.
#[derive(Default)]
pub(crate) struct NativeMemory {
    n_bytes: Rc<Cell<usize>>,
}

/// The memory of one object; given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held {
    n_bytes: usize,
    all: Rc<Cell<usize>>,
}

impl NativeMemory {
    /// Counts what an object holds. When there is too much, garbage is collected first: the engine does not know how
    /// much depends on it.
    ///
    /// # Errors
    /// A RangeError when it is still too much; `what` are the objects, in the plural.
    pub(crate) fn hold(&self, ctx: &Ctx<'_>, n_bytes: usize, what: &str) -> Result<Held> {
        let is_free = || self.n_bytes.get().saturating_add(n_bytes) <= MAX_BYTES;
        if !is_free() {
            ctx.run_gc();
        }
        if !is_free() {
            let text = format!(
                "the {what} that the script keeps take more than {} MiB; keep only the needed parts",
                MAX_BYTES >> 20
            );
            return Err(Exception::throw_range(ctx, &text));
        }
        self.n_bytes.set(self.n_bytes.get() + n_bytes);
        Ok(Held {
            n_bytes,
            all: Rc::clone(&self.n_bytes),
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.set(self.all.get() - self.n_bytes);
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    #[test]
    fn what_is_given_back_can_be_held_again() {
        let context = Context::full(&Runtime::new().unwrap()).unwrap();
        context.with(|ctx| {
            let memory = NativeMemory::default();
            let hold = |n_bytes| memory.hold(&ctx, n_bytes, "pages");
            let most = hold(MAX_BYTES - 10).unwrap();
            let rest = hold(10).unwrap();
            for n_bytes in [1, usize::MAX] {
                assert!(hold(n_bytes).is_err());
                assert!(format!("{:?}", ctx.catch()).contains("pages"));
            }
            drop(rest);
            assert!(hold(10).is_ok());
            drop(most);
            assert!(hold(MAX_BYTES).is_ok());
        });
    }
}
