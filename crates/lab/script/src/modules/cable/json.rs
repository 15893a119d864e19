//! Values of scripts as JSON.

use rquickjs::{Ctx, Exception, Result, Value};
use serde_json::value::RawValue;

use crate::inspect::inspect;

/// A value as the text of a JSON object; nothing is an empty one.
///
/// # Errors
/// A TypeError when it is not an object.
pub(super) fn json_object<'js>(ctx: &Ctx<'js>, value: Option<Value<'js>>, what: &str) -> Result<String> {
    let Some(value) = value.filter(|value| !value.is_undefined() && !value.is_null()) else {
        return Ok("{}".to_owned());
    };
    let json = if value.is_object() && !value.is_array() && !value.is_function() {
        ctx.json_stringify(value.clone())?
            .map(|json| json.to_string())
            .transpose()?
    } else {
        None
    };
    json.ok_or_else(|| {
        let text = format!(
            "{what} are {}; expected an object, for example {{ id: 1 }}",
            inspect(&value)
        );
        Exception::throw_type(ctx, &text)
    })
}

/// A value as JSON.
pub(super) fn json<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Box<RawValue>> {
    let json = ctx
        .json_stringify(value.clone())?
        .map(|json| json.to_string())
        .transpose()?;
    json.and_then(|json| RawValue::from_string(json).ok())
        .ok_or_else(|| {
            let text = format!(
                "{} cannot be written as JSON; expected data, for example {{ typing: true }}",
                inspect(value)
            );
            Exception::throw_type(ctx, &text)
        })
}
