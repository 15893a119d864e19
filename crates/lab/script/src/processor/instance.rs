//! The module on one thread: a stack with a runtime on it, a task that lets it run, and the users that call its
//! functions.

use std::{
    collections::BTreeSet,
    future::poll_fn,
    rc::Rc,
    sync::Arc,
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use plimsoll_scenario::artillery::hooks::{self, Call, Introduction, Pending};
use tokio::{sync::oneshot, task::AbortHandle, time::timeout};

use super::{
    evaluated::Evaluated,
    orders::{CallId, GuestId, Order, Orders},
    workshop,
};
use crate::{
    coroutine::{Coroutine, Turn},
    error::ScriptError,
    events::Events,
    program::Program,
    vm::{MAX_INIT, STACK_BYTES},
};

/// The longest time of a function that waits for no timer. Reason: it has forgotten `next`, or its promise never
/// settles. A function that computes is ended earlier.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// The names of a module's functions, which is evaluated for that.
pub(super) fn functions_of(program: &Arc<Program>) -> Result<BTreeSet<String>, ScriptError> {
    let (_coroutine, functions, _) = evaluate(program, &Rc::default())?;
    Ok(functions)
}

fn evaluate(
    program: &Arc<Program>,
    orders: &Rc<Orders>,
) -> Result<(Coroutine, BTreeSet<String>, Rc<Events>), ScriptError> {
    let evaluated = Rc::new(Evaluated::default());
    let (inner, own, own_orders) = (Rc::clone(&evaluated), Arc::clone(program), Rc::clone(orders));
    let coroutine = Coroutine::new(STACK_BYTES, move |switch| {
        workshop::live(&switch, &own, &own_orders, &inner);
    });
    let mut coroutine =
        coroutine.map_err(|error| ScriptError::new(format!("no stack for the processor: {error}")))?;
    let begin = Instant::now();
    while coroutine.resume(Waker::noop()) == Turn::Busy {
        if begin.elapsed() > MAX_INIT {
            return Err(ScriptError::new(format!(
                "evaluating the module takes longer than {MAX_INIT:?}; does it have an endless loop outside of its \
                 functions?"
            )));
        }
    }
    let functions = evaluated.functions.take();
    let functions = functions.unwrap_or_else(|| Err(ScriptError::new("the module was not evaluated")))?;
    Ok((coroutine, functions, evaluated.events.take().unwrap_or_default()))
}

/// The module on this thread.
pub(super) struct Instance {
    orders: Rc<Orders>,
    events: Rc<Events>,
    driver: AbortHandle,
}

impl Instance {
    /// Evaluates the module. Must be called within a `LocalSet`, on which its functions then run.
    pub(super) fn start(program: &Arc<Program>) -> Result<Self, ScriptError> {
        let orders = Rc::new(Orders::default());
        let (coroutine, _, events) = evaluate(program, &orders)?;
        let driver = tokio::task::spawn_local(drive(coroutine, Rc::clone(&orders), program.limits.computing));
        Ok(Self {
            orders,
            events,
            driver: driver.abort_handle(),
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Lets functions run whenever there is something to do. Between two slices of a long one, others have their turn.
async fn drive(mut coroutine: Coroutine, orders: Rc<Orders>, most_computing: Duration) {
    poll_fn(|cx| match coroutine.resume(cx.waker()) {
        Turn::Pending => Poll::Pending,
        turn @ (Turn::Busy | Turn::Idle) => {
            if turn == Turn::Busy && orders.computes_too_long(most_computing) {
                coroutine.switch().interrupt();
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        Turn::Ended => Poll::Ready(()),
    })
    .await;
    orders.close();
}

impl hooks::Instance for Instance {
    fn guest(&self, introduction: Introduction) -> Box<dyn hooks::Guest> {
        let id = GuestId(self.orders.new_id());
        self.orders.give(Order::Enter(id, introduction));
        Box::new(Guest {
            id,
            orders: Rc::clone(&self.orders),
            events: Rc::clone(&self.events),
        })
    }
}

/// The side of one user.
struct Guest {
    id: GuestId,
    orders: Rc<Orders>,
    events: Rc<Events>,
}

impl hooks::Guest for Guest {
    fn call(&self, call: Call) -> Pending<'_> {
        Box::pin(async move {
            let (id, function) = (CallId(self.orders.new_id()), Arc::clone(&call.function));
            let (reply, mut answer) = oneshot::channel();
            let guest = self.id;
            self.orders.give(Order::Call {
                id,
                guest,
                call,
                reply,
            });
            let _waiting = Waiting {
                id,
                orders: &self.orders,
            };
            loop {
                match timeout(LONGEST_SILENCE, &mut answer).await {
                    Ok(outcome) => {
                        return outcome.unwrap_or_else(|_| Err("the processor has ended".to_owned()));
                    }
                    Err(_) if self.events.has_of(self.id.0) => {}
                    Err(_) => {
                        tracing::error!(
                            target: "script",
                            "the function `{function}` has neither called next() nor returned a promise that settles within \
                             {LONGEST_SILENCE:?}, and waits for no timer"
                        );
                        return Err(format!("{function} never calls next()"));
                    }
                }
            }
        })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.orders.give(Order::Leave(self.id));
    }
}

/// A call whose caller waits for its end. Dropping it forgets the call; for a call that has ended, dropping has no
/// effect.
struct Waiting<'a> {
    id: CallId,
    orders: &'a Orders,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.orders.give(Order::Forget(self.id));
    }
}
