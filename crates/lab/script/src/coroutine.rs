//! A call stack of its own for each virtual user.
//!
//! k6's API blocks: `sleep` and `http.get` return when they are done. QuickJS cannot be suspended inside such a call
//! except by switching away from its whole stack. A [`Coroutine`] is such a stack. Its code blocks with
//! [`Switch::park`], and its driver sees an ordinary pending poll.
//!
//! Futures are polled on the *caller's* stack, which is large. The coroutine's own stack carries only the interpreter,
//! so that thousands of coroutines stay small.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    io,
    pin::pin,
    ptr,
    rc::Rc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use corosensei::{CoroutineResult, Yielder, stack::DefaultStack};

/// The time for which code may compute before other coroutines of its thread get their turn.
const SLICE: Duration = Duration::from_millis(5);

/// Why a coroutine gave its caller the stack back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The body waits for an event that will wake it.
    Pending,
    /// The body lets others run and has more to do.
    Busy,
    /// The body has done its task and waits for the next one.
    Idle,
    /// The body returned: the coroutine must not be resumed again.
    Ended,
}

/// A blocking call has to end: the iteration's time is over, or the run was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// A body of code on its own stack. It ends only by returning: it is interrupted and resumed until it does, but never
/// unwound, because C frames are on its stack.
pub(crate) struct Coroutine {
    stack: corosensei::Coroutine<Waker, Turn, ()>,
    switch: Rc<Switch>,
}

/// The side of a coroutine that the code on its stack holds.
pub(crate) struct Switch {
    /// Null before the body began.
    yielder: Cell<*const Yielder<Waker, Turn>>,
    waker: RefCell<Waker>,
    is_interrupted: Cell<bool>,
    resumed_at: Cell<Instant>,
}

impl Coroutine {
    /// A stack of `stack_bytes` (plus a guard page) on which `body` begins at the first [`Self::resume`]. Memory is
    /// taken page by page when it is first used.
    ///
    /// # Errors
    /// When the system has no room for the stack.
    pub(crate) fn new(stack_bytes: usize, body: impl FnOnce(Rc<Switch>) + 'static) -> io::Result<Self> {
        let switch = Rc::new(Switch {
            yielder: Cell::new(ptr::null()),
            waker: RefCell::new(Waker::noop().clone()),
            is_interrupted: Cell::new(false),
            resumed_at: Cell::new(Instant::now()),
        });
        let own = Rc::clone(&switch);
        let stack = corosensei::Coroutine::with_stack(
            DefaultStack::new(stack_bytes)?,
            move |yielder: &Yielder<Waker, Turn>, waker| {
                own.yielder.set(yielder);
                own.waker.replace(waker);
                body(own);
            },
        );
        Ok(Self { stack, switch })
    }

    /// Runs the body until it waits or ends. `waker` is woken when it is worth calling again.
    pub(crate) fn resume(&mut self, waker: &Waker) -> Turn {
        if self.stack.done() {
            return Turn::Ended;
        }
        match self.stack.resume(waker.clone()) {
            CoroutineResult::Yield(turn) => turn,
            CoroutineResult::Return(()) => Turn::Ended,
        }
    }

    /// The side that the body holds.
    pub(crate) fn switch(&self) -> &Switch {
        &self.switch
    }
}

impl Drop for Coroutine {
    fn drop(&mut self) {
        if !self.stack.started() {
            return;
        }
        // An interrupted body does not wait, so it reaches its end or idles, where it is told so again.
        while !self.stack.done() {
            self.switch.interrupt();
            self.resume(Waker::noop());
        }
    }
}

impl Switch {
    /// Waits for `future` without holding the thread.
    ///
    /// # Errors
    /// When the coroutine was interrupted, also when the future is ready: its output is of no use any more.
    pub(crate) fn park<F: Future>(&self, future: F) -> Result<F::Output, Interrupted> {
        let mut future = pin!(future);
        loop {
            if self.is_interrupted.get() {
                return Err(Interrupted);
            }
            let polled = self.on_caller_stack(|| {
                let waker = self.waker.borrow().clone();
                future.as_mut().poll(&mut Context::from_waker(&waker))
            });
            match polled {
                Poll::Ready(output) => return Ok(output),
                Poll::Pending => self.suspend(Turn::Pending),
            }
        }
    }

    /// Lets others run when this code ran for [`SLICE`]. True when it has to end.
    pub(crate) fn take_turns(&self) -> bool {
        if !self.is_interrupted.get() && self.resumed_at.get().elapsed() >= SLICE {
            self.suspend(Turn::Busy);
        }
        self.is_interrupted.get()
    }

    /// Waits for the next task.
    pub(crate) fn idle(&self) {
        self.suspend(Turn::Idle);
    }

    /// Makes waiting fail until [`Self::recover`].
    pub(crate) fn interrupt(&self) {
        self.is_interrupted.set(true);
    }

    /// Waiting is possible again.
    pub(crate) fn recover(&self) {
        self.is_interrupted.set(false);
    }

    /// Whether the running code has to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.get()
    }

    fn suspend(&self, turn: Turn) {
        let waker = self.yielder().suspend(turn);
        self.waker.replace(waker);
        self.resumed_at.set(Instant::now());
    }

    fn on_caller_stack<R>(&self, poll: impl FnOnce() -> R) -> R {
        struct SameThread<T>(T);
        // SAFETY: corosensei asks for `Send` so that the closure cannot reach the yielder of the stack that it left. A
        // future is polled here; only code of the interpreter, which never runs inside a poll, holds a `Switch`.
        #[expect(
            unsafe_code,
            reason = "futures of one thread are polled on another stack of that thread"
        )]
        unsafe impl<T> Send for SameThread<T> {}
        impl<R, F: FnOnce() -> R> SameThread<F> {
            fn call(self) -> R {
                (self.0)()
            }
        }
        let poll = SameThread(poll);
        self.yielder().on_parent_stack(move || SameThread(poll.call())).0
    }

    fn yielder(&self) -> &Yielder<Waker, Turn> {
        // SAFETY: set before the body began, to a place that stays until the body returns; and only the body, which
        // runs on that stack, calls this.
        #[expect(
            unsafe_code,
            reason = "the interpreter's callbacks cannot carry a borrow of the stack"
        )]
        unsafe {
            self.yielder
                .get()
                .as_ref()
                .expect("the body has begun, for it calls this")
        }
    }
}

#[cfg(test)]
mod tests;
