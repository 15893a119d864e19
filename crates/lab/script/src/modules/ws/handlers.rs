//! The handlers of a socket.

use std::cell::RefCell;

use rquickjs::{
    Ctx, Exception, Function, JsLifetime, Result, Value,
    class::{Trace, Tracer},
    function::IntoArgs,
};

use crate::host::Host;

/// The largest number of functions of one socket. Reason: it is far beyond the need of working scripts, and the
/// functions are outside of the engine's heap.
const MAX_HANDLERS: usize = 10_000;

/// The events of a socket of `k6/ws`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsLifetime)]
pub(super) enum On {
    Open,
    Message,
    BinaryMessage,
    Ping,
    Pong,
    Close,
    Error,
}

const NAMES: [(&str, On); 7] = [
    ("open", On::Open),
    ("message", On::Message),
    ("binaryMessage", On::BinaryMessage),
    ("ping", On::Ping),
    ("pong", On::Pong),
    ("close", On::Close),
    ("error", On::Error),
];

/// The functions, in the order in which they were given.
#[derive(Default, JsLifetime)]
pub(super) struct Handlers<'js>(RefCell<Vec<Handler<'js>>>);

#[derive(JsLifetime)]
struct Handler<'js> {
    on: On,
    function: Function<'js>,
}

impl<'js> Handlers<'js> {
    /// Adds a function; an unknown name is one of something that never happens, as in k6.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn add(&self, ctx: &Ctx<'js>, name: &str, function: Function<'js>) -> Result<()> {
        if self.0.borrow().len() >= MAX_HANDLERS {
            let text =
                format!("this socket already has {MAX_HANDLERS} handlers; call on() once for each event");
            return Err(Exception::throw_range(ctx, &text));
        }
        if let Some(&(_, on)) = NAMES.iter().find(|(known, _)| *known == name) {
            self.0.borrow_mut().push(Handler { on, function });
        }
        Ok(())
    }

    /// Calls the functions for `on`, those too that are added by one of them. Then goes on with what waits for
    /// promises.
    ///
    /// # Errors
    /// What a function threw; those after it are not called.
    pub(super) fn call<A>(&self, ctx: &Ctx<'js>, on: On, arguments: A) -> Result<()>
    where
        A: IntoArgs<'js> + Clone,
    {
        let mut position = 0;
        while let Some(function) = self.next(on, &mut position) {
            function.call::<_, Value<'js>>(arguments.clone())?;
        }
        Host::of(ctx).run_jobs(ctx)
    }

    /// Whether the script has a handler for `on`.
    pub(super) fn has(&self, on: On) -> bool {
        self.0.borrow().iter().any(|handler| handler.on == on)
    }

    /// The first function for `on` from `position` on, which goes behind it.
    fn next(&self, on: On, position: &mut usize) -> Option<Function<'js>> {
        let handlers = self.0.borrow();
        let rest = handlers.get(*position..)?;
        let n_skipped = rest.iter().position(|handler| handler.on == on)?;
        *position += n_skipped + 1;
        Some(rest[n_skipped].function.clone())
    }
}

impl<'js> Trace<'js> for Handlers<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        // A function that is being added is held by the script, too.
        if let Ok(handlers) = self.0.try_borrow() {
            handlers.iter().for_each(|handler| handler.function.trace(tracer));
        }
    }
}
