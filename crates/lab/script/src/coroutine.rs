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

mod depth;

use self::depth::Depth;

/// The time for which code may compute before other coroutines of its thread get their turn.
const SLICE: Duration = Duration::from_millis(5);

/// Before such a wait, the stack gives the memory back that the waiting code does not use. It costs two to seven microseconds:
/// a system call, and a page fault for each page that is used again.
const LONG_WAIT: Duration = Duration::from_secs(4);

/// Before such a wait, too, if the stack has given nothing back for [`RARE`]: so deep calls that happen once, like
/// connecting, do not cost memory for good, and a script that sleeps a second after each request pays nearly nothing.
const NOTABLE_WAIT: Duration = Duration::from_secs(1);
const RARE: Duration = Duration::from_secs(60);

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
    depth: Depth,
    switch: Rc<Switch>,
}

/// The side of a coroutine that the code on its stack holds.
pub(crate) struct Switch {
    /// Null before the body began.
    yielder: Cell<*const Yielder<Waker, Turn>>,
    waker: RefCell<Waker>,
    is_interrupted: Cell<bool>,
    resumed_at: Cell<Instant>,
    /// How long the next wait will be. Zero if that is unknown.
    expected_wait: Cell<Duration>,
    /// When memory of the stack was given back last.
    given_back_at: Cell<Option<Instant>>,
    /// The end of the stack's used part, when the body waits.
    unused_below: Cell<usize>,
    /// Whether memory below it is to be given back.
    gives_back: Cell<bool>,
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
            expected_wait: Cell::default(),
            given_back_at: Cell::default(),
            unused_below: Cell::default(),
            gives_back: Cell::default(),
        });
        let own = Rc::clone(&switch);
        let stack = DefaultStack::new(stack_bytes)?;
        let depth = Depth::of(&stack);
        let stack = corosensei::Coroutine::with_stack(stack, move |yielder: &Yielder<Waker, Turn>, waker| {
            own.yielder.set(yielder);
            own.waker.replace(waker);
            body(own);
        });
        Ok(Self { stack, depth, switch })
    }

    /// Runs the body until it waits or ends. `waker` is woken when it is worth calling again.
    pub(crate) fn resume(&mut self, waker: &Waker) -> Turn {
        if self.stack.done() {
            return Turn::Ended;
        }
        match self.stack.resume(waker.clone()) {
            CoroutineResult::Yield(turn) => {
                if self.switch.gives_back.take() {
                    self.give_back();
                }
                turn
            }
            CoroutineResult::Return(()) => Turn::Ended,
        }
    }

    /// Gives the memory of the stack back that the waiting body does not use. For a body that will wait for long.
    pub(crate) fn rest(&self) {
        if self.stack.started() && !self.stack.done() {
            self.switch.given_back_at.set(Some(Instant::now()));
            self.give_back();
        }
    }

    /// Gives memory back. The body waits.
    fn give_back(&self) {
        // SAFETY: the address is of a local variable of the function that left the stack last.
        #[expect(unsafe_code, reason = "the stack's frames are known only here")]
        unsafe {
            self.depth.give_back(self.switch.unused_below.get());
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
    /// Waits for `future` without holding the thread. A wait that was [expected](Self::expect_wait) to be long, or that has
    /// become long when it is polled again, gives memory of the stack back, once.
    ///
    /// # Errors
    /// When the coroutine was interrupted, also when the future is ready: its output is of no use any more.
    pub(crate) fn park<F: Future>(&self, future: F) -> Result<F::Output, Interrupted> {
        let mut future = pin!(future);
        let begin = self.resumed_at.get();
        let expected = self.expected_wait.take();
        let mut has_given_back = false;
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
                Poll::Pending => {
                    let wait = expected.max(self.resumed_at.get() - begin);
                    let gives_back = !has_given_back && self.is_worth_giving_back(wait);
                    has_given_back |= gives_back;
                    self.suspend(Turn::Pending, gives_back);
                }
            }
        }
    }

    /// The next wait is expected to last so long.
    pub(crate) fn expect_wait(&self, duration: Duration) {
        self.expected_wait.set(duration);
    }

    /// Lets others run when this code ran for [`SLICE`]. True when it has to end.
    pub(crate) fn take_turns(&self) -> bool {
        if !self.is_interrupted.get() && self.resumed_at.get().elapsed() >= SLICE {
            self.suspend(Turn::Busy, false);
        }
        self.is_interrupted.get()
    }

    /// Waits for the next task.
    pub(crate) fn idle(&self) {
        self.suspend(Turn::Idle, false);
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

    fn is_worth_giving_back(&self, wait: Duration) -> bool {
        let is_rare = || {
            let given_back_at = self.given_back_at.get();
            given_back_at.is_none_or(|given_back_at| self.resumed_at.get() - given_back_at >= RARE)
        };
        wait >= LONG_WAIT || (wait >= NOTABLE_WAIT && is_rare())
    }

    /// Not inlined: it has a frame of its own, below which nothing is in use.
    #[inline(never)]
    fn suspend(&self, turn: Turn, gives_back: bool) {
        let in_this_frame = Cell::new(turn);
        self.unused_below.set(ptr::from_ref(&in_this_frame).addr());
        self.gives_back.set(gives_back);
        if gives_back {
            self.given_back_at.set(Some(self.resumed_at.get()));
        }
        let turn = in_this_frame.get();
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
