//! Promises of the host that are settled when they are made, and errors with names of their own.

use rquickjs::{Ctx, Exception, IntoJs, Promise, Result, Value};

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
