//! What `setup` returns, as the JSON that every user reads: in the shapes that k6 gives it, whose encoder knows more kinds
//! of values than `JSON.stringify`.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rquickjs::{Ctx, Error, Exception, Function, IntoJs as _, Object, Result, Value};

use crate::{arguments::utf8, bytes};

/// The value as JSON; `None` for undefined. Below the top undefined is null; a Map is the array of its entries, a Set and
/// an array of numbers are arrays, a Uint8Array is base64, a symbol is its description, and a BigInt is a number. (Seen in
/// k6 1.8.1.)
///
/// # Errors
/// For a function and for a number that is not finite, which k6 refuses, too, and for an object within itself.
pub(crate) fn to_json<'js>(ctx: &Ctx<'js>, returned: Value<'js>) -> Result<Option<String>> {
    let replacer = Function::new(ctx.clone(), replaced)?;
    ctx.json_stringify_replacer(returned, replacer)?
        .map(|json| json.to_string())
        .transpose()
}

/// What stands for `value` in the JSON. `key` is its place in what holds it, empty at the top.
fn replaced<'js>(ctx: Ctx<'js>, key: Value<'js>, value: Value<'js>) -> Result<Value<'js>> {
    let key = key
        .into_string()
        .as_ref()
        .map(utf8)
        .transpose()?
        .unwrap_or_default();
    if value.is_undefined() && !key.is_empty() {
        return Ok(Value::new_null(ctx));
    }
    if value.is_function() {
        return Err(refusal(&ctx, &key, "a function"));
    }
    if let Some(symbol) = value.as_symbol() {
        return symbol.description();
    }
    if value.is_big_int() {
        let number: Function<'js> = ctx.globals().get("Number")?;
        return finite(&ctx, &key, number.call((value,))?);
    }
    match value.as_object() {
        Some(object) => data_of(&ctx, object),
        None => finite(&ctx, &key, value),
    }
}

/// What an object holds, in a shape that JSON has; itself when it needs no other.
fn data_of<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<Value<'js>> {
    if object.as_typed_array::<u8>().is_some() {
        let bytes = bytes::copy(object.as_value()).unwrap_or_default();
        return BASE64_STANDARD.encode(bytes).into_js(ctx);
    }
    let is_of = |class| {
        // A script that does not name it runs without it.
        let class: Result<Option<Object<'js>>> = ctx.globals().get(class);
        class.is_ok_and(|class| class.is_some_and(|class| object.is_instance_of(class)))
    };
    // The class of all typed arrays has no name of its own, but this property.
    if is_of("Map") || is_of("Set") || object.contains_key("BYTES_PER_ELEMENT")? {
        let array: Object<'js> = ctx.globals().get("Array")?;
        let from: Function<'js> = array.get("from")?;
        return from.call((object.clone(),));
    }
    Ok(object.as_value().clone())
}

/// The value, unless it is a number that JSON cannot say.
fn finite<'js>(ctx: &Ctx<'js>, key: &str, value: Value<'js>) -> Result<Value<'js>> {
    match value.as_number() {
        Some(number) if !number.is_finite() => Err(refusal(ctx, key, &format!("the number {number}"))),
        _ => Ok(value),
    }
}

fn refusal(ctx: &Ctx<'_>, key: &str, found: &str) -> Error {
    let place = if key.is_empty() {
        String::new()
    } else {
        format!(" at `{key}`")
    };
    let text = format!(
        "setup() returned {found}{place}; expected data for JSON: strings, finite numbers, booleans, null, and \
         arrays and objects of these"
    );
    Exception::throw_type(ctx, &text)
}
