//! Time, the order of callbacks, promises, and the log.

use std::time::Instant;

use rquickjs::{
    Array, Ctx, Function, IntoJs as _, Object, Promise, Result, Value, function::Rest, promise::PromiseState,
};

use crate::{
    events::Callback,
    host::Host,
    modules::timers::{self, Action},
};

pub(super) fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("timers", timers::build(ctx)?)?;
    let begun = Instant::now();
    // Nanoseconds; whole ones for the first hundred days.
    let now = move || begun.elapsed().as_nanos() as f64;
    native.set("now", Function::new(ctx.clone(), now)?)?;
    native.set("immediate", Function::new(ctx.clone(), immediate)?)?;
    native.set("tick", Function::new(ctx.clone(), tick)?)?;
    native.set("promiseState", Function::new(ctx.clone(), promise_state)?)?;
    native.set("log", Function::new(ctx.clone(), log)?)
}

/// Calls back once what is ready has been done.
fn immediate<'js>(ctx: Ctx<'js>, function: Value<'js>, arguments: Rest<Value<'js>>) -> Result<u32> {
    let action = Action::new(&ctx, "setImmediate", function, arguments)?;
    let ready = async move { Box::new(move |ctx: &Ctx<'_>| action.call(ctx)) as Callback };
    Ok(Host::of(&ctx).event(&ctx, ready)?.0)
}

/// Calls back before any promise.
fn tick<'js>(ctx: Ctx<'js>, function: Value<'js>, arguments: Rest<Value<'js>>) -> Result<()> {
    let action = Action::new(&ctx, "process.nextTick", function, arguments)?;
    Host::of(&ctx).tick(&ctx, Box::new(move |ctx: &Ctx<'_>| action.call(ctx)))
}

/// `[state, value]`.
fn promise_state<'js>(ctx: Ctx<'js>, promise: Promise<'js>) -> Result<Array<'js>> {
    let (state, value) = match promise.state() {
        PromiseState::Pending => ("pending", Value::new_undefined(ctx.clone())),
        PromiseState::Resolved => match promise.result::<Value<'js>>() {
            Some(value) => ("fulfilled", value?),
            None => ("pending", Value::new_undefined(ctx.clone())),
        },
        PromiseState::Rejected => {
            // Reading the reason throws it.
            drop(promise.result::<Value<'js>>());
            ("rejected", ctx.catch())
        }
    };
    let pair = Array::new(ctx.clone())?;
    pair.set(0, state.into_js(&ctx)?)?;
    pair.set(1, value)?;
    Ok(pair)
}

fn log(level: String, text: rquickjs::String<'_>) -> Result<()> {
    let text = crate::arguments::utf8(&text)?;
    match level.as_str() {
        "debug" => tracing::debug!(target: "console", "{text}"),
        "warn" => tracing::warn!(target: "console", "{text}"),
        "error" => tracing::error!(target: "console", "{text}"),
        _ => tracing::info!(target: "console", "{text}"),
    }
    Ok(())
}
