//! Values of scripts as JSON.

use plimsoll_cable::identifier::EncodeError;
use rquickjs::{Ctx, Exception, Result, Value};
use serde_json::value::RawValue;

use crate::{inspect::inspect, plain_data::encode_object};

/// A value as the text of a JSON object with this text field, key and value, as it is sent; nothing is an empty object. `encode`
/// adds the field to an object's JSON.
///
/// # Errors
/// A TypeError when it is not an object, or is nested too deeply.
pub(super) fn json_object<'js>(
    ctx: &Ctx<'js>,
    value: Option<Value<'js>>,
    (key, text): (&str, &str),
    encode: impl Fn(&str, &str) -> std::result::Result<String, EncodeError>,
    what: &str,
) -> Result<String> {
    let value = value.filter(|value| !value.is_undefined() && !value.is_null());
    let json = match value {
        None => "{}".to_owned(),
        Some(value) => match encode_object(&value, Some((key, text))) {
            Some(encoded) => return Ok(encoded),
            None => object_by_engine(ctx, &value, what)?,
        },
    };
    encode(text, &json).map_err(|error| Exception::throw_type(ctx, &error.to_string()))
}

fn object_by_engine<'js>(ctx: &Ctx<'js>, value: &Value<'js>, what: &str) -> Result<String> {
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
            inspect(value)
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
