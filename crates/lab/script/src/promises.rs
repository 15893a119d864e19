//! Promises of the host, and errors with names of their own.

use std::future::Future;

use rquickjs::{Ctx, Exception, Function, IntoJs, Persistent, Promise, Result, Value};

use crate::{events::Callback, host::Host};

/// A promise that has this value.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn resolved<'js>(ctx: &Ctx<'js>, value: impl IntoJs<'js>) -> Result<Promise<'js>> {
    let (promise, resolve, _) = Promise::new(ctx)?;
    resolve.call::<_, ()>((value,))?;
    Ok(promise)
}

/// A promise that is rejected with [`error`].
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn rejected<'js>(ctx: &Ctx<'js>, name: &str, text: &str) -> Result<Promise<'js>> {
    let (promise, _, reject) = Promise::new(ctx)?;
    reject.call::<_, ()>((error(ctx, name, text)?,))?;
    Ok(promise)
}

/// A promise that has this value, or is rejected with what was thrown instead.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn settled<'js>(ctx: &Ctx<'js>, value: Result<Value<'js>>) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = Promise::new(ctx)?;
    settle(ctx, &resolve, &reject, value)?;
    Ok(promise)
}

/// A promise that is settled when `future` is ready: `value` makes its value, or throws the reason of its rejection. The
/// iteration lasts as long.
///
/// # Errors
/// When there is no memory for it, or too much is pending.
pub(crate) fn later<'js, T: 'static>(
    ctx: &Ctx<'js>,
    future: impl Future<Output = T> + 'static,
    value: impl for<'a> FnOnce(&Ctx<'a>, T) -> Result<Value<'a>> + 'static,
) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = Promise::new(ctx)?;
    let held = (Persistent::save(ctx, resolve), Persistent::save(ctx, reject));
    let done = async move {
        let output = future.await;
        Box::new(move |ctx: &Ctx<'_>| {
            let (resolve, reject) = (held.0.restore(ctx)?, held.1.restore(ctx)?);
            settle(ctx, &resolve, &reject, value(ctx, output))
        }) as Callback
    };
    Host::of(ctx).event(ctx, done)?;
    Ok(promise)
}

fn settle<'js>(
    ctx: &Ctx<'js>,
    resolve: &Function<'js>,
    reject: &Function<'js>,
    value: Result<Value<'js>>,
) -> Result<()> {
    match value {
        Ok(value) => resolve.call((value,)),
        Err(_) => reject.call((ctx.catch(),)),
    }
}

/// An error of JavaScript with this `name`; for `TypeError`, one of that class.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn error<'js>(ctx: &Ctx<'js>, name: &str, text: &str) -> Result<Value<'js>> {
    if name == "TypeError" {
        let _ = Exception::throw_type(ctx, text);
        return Ok(ctx.catch());
    }
    let exception = Exception::from_message(ctx.clone(), text)?;
    exception.as_object().set("name", name)?;
    Ok(exception.into_value())
}
