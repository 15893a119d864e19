//! The end of a function: its verdict, or its failure.

use rquickjs::{Coerced, Ctx, FromJs as _, Value};

use super::{absence, events::shortened};
use crate::{arguments::utf8, error::ScriptError, host::Host, modules::is_truthy, program::Program};

/// Whether the result counts as true, or the name under which the failure is counted.
pub(super) type Verdict = Result<bool, String>;

/// The name of a failure, as Artillery counts it: the code of an error, or its message; any other value as a text. A failure
/// for want of something of Node's ends the run.
pub(super) fn reason<'js>(ctx: &Ctx<'js>, error: &Value<'js>) -> String {
    if let Some(cause) = absence::cause(ctx, error) {
        Host::of(ctx).abort(cause);
    }
    let text = |value: Value<'js>| {
        let text = Coerced::<rquickjs::String<'js>>::from_js(ctx, value).ok()?;
        utf8(&text.0).ok()
    };
    let part = |name| {
        let value: Value<'js> = error.as_object()?.get(name).ok()?;
        is_truthy(&value).then(|| text(value)).flatten()
    };
    let found = part("code")
        .or_else(|| part("message"))
        .or_else(|| text(error.clone()));
    // What reading it has thrown is of no interest.
    drop(ctx.catch());
    shortened(
        found
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| "Error".to_owned()),
    )
}

/// Logs the thrown value of a function, with its place.
pub(super) fn log(thrown: &Value<'_>, program: &Program) {
    let error = ScriptError::of_value(thrown, program);
    tracing::error!(target: "script", "{error}");
}
