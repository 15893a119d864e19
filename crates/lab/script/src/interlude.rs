//! Callbacks into a script while one of its blocking calls waits.
//!
//! k6's cable extension calls a script's observers from another thread, beside the script. Here they are called on the
//! script's own stack, in the pauses that it makes: nothing of the script runs at the same time as something else of
//! it.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use rquickjs::Ctx;

/// A client with callbacks.
pub(crate) trait Interlude {
    /// Whether there is something to call back for. Every change of the answer must wake the waiting task.
    fn is_due(&self) -> bool;

    /// Calls back for all that is due.
    ///
    /// # Errors
    /// What ends the script's call.
    fn run(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()>;

    /// Ends the iteration: the interlude must release all functions of the script now and accept no more, because
    /// otherwise the script's garbage collector does not learn that only the client holds them.
    fn end(&self);
}

/// The interludes of one virtual user. While one runs, others wait: a callback that waits is not interrupted.
#[derive(Default)]
pub(crate) struct Interludes {
    all: RefCell<Vec<Rc<dyn Interlude>>>,
    is_running: Cell<bool>,
}

impl Interludes {
    pub(crate) fn add(&self, interlude: Rc<dyn Interlude>) {
        self.all.borrow_mut().push(interlude);
    }

    /// Ends and forgets all.
    pub(crate) fn clear(&self) {
        for interlude in self.all.take() {
            interlude.end();
        }
    }

    /// Whether there is something to do.
    pub(crate) fn is_due(&self) -> bool {
        !self.is_running.get() && self.all.borrow().iter().any(|interlude| interlude.is_due())
    }

    /// Does it.
    ///
    /// # Errors
    /// The first one; the rest stays due.
    pub(crate) fn run(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        self.is_running.set(true);
        let all = self.all.borrow().clone();
        let mut due = all.iter().filter(|interlude| interlude.is_due());
        let outcome = due.try_for_each(|interlude| interlude.run(ctx));
        self.is_running.set(false);
        outcome
    }
}
