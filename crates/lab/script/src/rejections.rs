//! Rejected promises without a handler: an iteration with such a promise has failed.

use std::cell::RefCell;

use rquickjs::{Ctx, JsLifetime, Result, Runtime, Value};

use crate::context_data;

/// Rejected promises, oldest first.
#[derive(Default, JsLifetime)]
struct Unhandled<'js> {
    promises: RefCell<Vec<Rejected<'js>>>,
}

#[derive(JsLifetime)]
struct Rejected<'js> {
    promise: Value<'js>,
    reason: Value<'js>,
}

/// The largest number of rejected promises that are kept for the report of one failure. Reason: people need the first
/// one.
const MAX_KEPT: usize = 16;

/// Lets the runtime tell of rejections.
pub(crate) fn watch(runtime: &Runtime) {
    runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, is_handled| {
        let Some(unhandled) = ctx.userdata::<Unhandled<'_>>() else {
            return;
        };
        let mut promises = unhandled.promises.borrow_mut();
        if is_handled {
            promises.retain(|known| known.promise != promise);
        } else if promises.len() < MAX_KEPT {
            promises.push(Rejected { promise, reason });
        }
    })));
}

/// Prepares a context.
pub(crate) fn install(ctx: &Ctx<'_>) -> Result<()> {
    context_data::store(ctx, Unhandled::default())
}

/// Throws the reason of the first unhandled rejection. `returned` does not count: the caller handles it.
///
/// # Errors
/// That reason.
pub(crate) fn check<'js>(ctx: &Ctx<'js>, returned: &Value<'js>) -> Result<()> {
    let first = ctx.userdata::<Unhandled<'js>>().and_then(|unhandled| {
        let promises = unhandled.promises.take();
        promises
            .into_iter()
            .find(|rejected| rejected.promise != *returned)
    });
    match first {
        Some(rejected) => Err(ctx.throw(rejected.reason)),
        None => Ok(()),
    }
}
