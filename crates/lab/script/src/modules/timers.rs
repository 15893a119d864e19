//! `k6/timers`, which are the global timers, too.

use std::time::Duration;

use rquickjs::{
    Coerced, Ctx, Exception, Function, Object, Persistent, Result, Value,
    function::{Opt, Rest},
};
use tokio::time::{Instant, sleep_until};

use super::module::{Module, same};
use crate::{
    events::{Callback, EventId},
    host::Host,
    members::{Members, members},
};

pub(super) const MODULE: Module = Module {
    id: "k6/timers",
    build,
    api: &[
        same("setTimeout"),
        same("clearTimeout"),
        same("setInterval"),
        same("clearInterval"),
    ],
};

/// The function of a timer.
#[derive(Clone)]
pub(crate) struct Action {
    function: Persistent<Function<'static>>,
    arguments: Vec<Persistent<Value<'static>>>,
}

/// The functions, each in a table of its own, by name.
pub(crate) fn tables() -> [(&'static str, &'static Members); 4] {
    [
        ("setTimeout", members![function c"setTimeout" => set_timeout]),
        ("setInterval", members![function c"setInterval" => set_interval]),
        ("clearTimeout", members![function c"clearTimeout" => clear]),
        ("clearInterval", members![function c"clearInterval" => clear]),
    ]
}

/// An object with all of them.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    for (_, members) in tables() {
        members.define(&exports)?;
    }
    Ok(exports)
}

fn set_timeout<'js>(
    ctx: Ctx<'js>,
    function: Value<'js>,
    delay: Opt<Coerced<f64>>,
    arguments: Rest<Value<'js>>,
) -> Result<u32> {
    let action = Action::new(&ctx, "setTimeout", function, arguments)?;
    let at = Instant::now() + delay_of(&delay);
    let timer = async move {
        sleep_until(at).await;
        Box::new(move |ctx: &Ctx<'_>| action.call(ctx)) as Callback
    };
    Ok(Host::of(&ctx).event(&ctx, timer)?.0)
}

fn set_interval<'js>(
    ctx: Ctx<'js>,
    function: Value<'js>,
    delay: Opt<Coerced<f64>>,
    arguments: Rest<Value<'js>>,
) -> Result<u32> {
    let action = Action::new(&ctx, "setInterval", function, arguments)?;
    // Zero would never let anything else happen.
    let period = delay_of(&delay).max(Duration::from_millis(1));
    let host = Host::of(&ctx);
    let id = host.events.new_id();
    tick(&ctx, id, Instant::now() + period, period, action)?;
    Ok(id.0)
}

/// Waits for one tick of an interval; each tick orders the next one, so that ticks do not pile up behind a slow script.
fn tick(ctx: &Ctx<'_>, id: EventId, at: Instant, period: Duration, action: Action) -> Result<()> {
    let timer = async move {
        sleep_until(at).await;
        Box::new(move |ctx: &Ctx<'_>| {
            tick(ctx, id, (at + period).max(Instant::now()), period, action.clone())?;
            action.call(ctx)
        }) as Callback
    };
    Host::of(ctx).event_as(ctx, id, timer)
}

fn clear(ctx: Ctx<'_>, id: Opt<Value<'_>>) {
    let id = id.0.and_then(|id| id.as_number());
    if let Some(id) = id.filter(|id| *id >= 1.0) {
        Host::of(&ctx).events.cancel(EventId(id as u32));
    }
}

/// A delay in milliseconds; a value that is not a number counts as 0, as in browsers.
fn delay_of(delay: &Opt<Coerced<f64>>) -> Duration {
    let millis = delay.0.as_ref().map_or(0.0, |millis| millis.0);
    Duration::try_from_secs_f64(millis.max(0.0) / 1_000.0).unwrap_or(Duration::ZERO)
}

impl Action {
    /// The call of `function` with these arguments, on behalf of the function `caller`.
    ///
    /// # Errors
    /// A TypeError when it is no function.
    pub(crate) fn new<'js>(
        ctx: &Ctx<'js>,
        caller: &str,
        function: Value<'js>,
        arguments: Rest<Value<'js>>,
    ) -> Result<Self> {
        let type_name = function.type_name();
        let function = function.into_function().ok_or_else(|| {
            let text = format!("{caller} needs a function as its first argument, found {type_name}");
            Exception::throw_type(ctx, &text)
        })?;
        let arguments = arguments.0.into_iter();
        Ok(Self {
            function: Persistent::save(ctx, function),
            arguments: arguments
                .map(|argument| Persistent::save(ctx, argument))
                .collect(),
        })
    }

    /// Calls it.
    ///
    /// # Errors
    /// What it throws.
    pub(crate) fn call(self, ctx: &Ctx<'_>) -> Result<()> {
        let arguments = self.arguments.into_iter().map(|argument| argument.restore(ctx));
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        self.function.restore(ctx)?.call((Rest(arguments),))
    }
}
