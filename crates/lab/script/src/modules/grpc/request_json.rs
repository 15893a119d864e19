//! Requests of a script as JSON texts.

use rquickjs::{Ctx, Exception, Function, Result, Value};

use crate::arguments::utf8;

/// The JSON of a request, with texts for numbers that JSON does not have: `NaN`, `Infinity`, `-Infinity`.
///
/// # Errors
/// The value is null or undefined, or has no JSON.
pub(super) fn of_request<'js>(ctx: &Ctx<'js>, request: &Value<'js>) -> Result<String> {
    if request.is_null() || request.is_undefined() {
        let text = "Cannot convert undefined or null to object";
        return Err(Exception::throw_type(ctx, text));
    }
    let text = match plain(ctx, request) {
        Err(error) if error.is_exception() => {
            let thrown = ctx.catch();
            let message = thrown.as_exception().and_then(Exception::message);
            if message.is_some_and(|message| message.contains("circular")) {
                let text = "unable to normalize number strings: cyclic reference to an object found";
                return Err(Exception::throw_message(ctx, text));
            }
            return Err(ctx.throw(thrown));
        }
        text => text?,
    };
    // Only these numbers and null itself are written so, and most requests have none.
    if !text.contains("null") {
        return Ok(text);
    }
    let replacer = Function::new(ctx.clone(), |_name: Value<'js>, value: Value<'js>| {
        let name = match value.as_float() {
            Some(number) if number.is_nan() => "NaN",
            Some(f64::INFINITY) => "Infinity",
            Some(f64::NEG_INFINITY) => "-Infinity",
            _ => return Ok(value),
        };
        rquickjs::String::from_str(value.ctx().clone(), name).map(rquickjs::String::into_value)
    })?;
    let text = ctx.json_stringify_replacer(request.clone(), replacer)?;
    text.map_or_else(|| Ok(String::new()), |text| utf8(&text))
}

/// The JSON of a message as the engine writes it.
///
/// # Errors
/// The value has no JSON.
pub(super) fn plain<'js>(ctx: &Ctx<'js>, message: &Value<'js>) -> Result<String> {
    let text = ctx.json_stringify(message.clone())?;
    text.map_or_else(|| Ok("null".to_owned()), |text| utf8(&text))
}
