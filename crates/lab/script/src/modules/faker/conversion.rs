//! Arguments and results, between JavaScript and the catalog.

use plimsoll_fake::{Argument, MOST_ITEMS, Value as Invented};
use rquickjs::{Array, Ctx, Exception, FromJs as _, IntoJs as _, Object, Result, Value, object::Property};

use crate::arguments::{Text, items};

/// The most bytes of all items of a list: a list may have a long text many times.
const MOST_BYTES: usize = 16 << 20;

/// An argument of a function. Its parts are texts, as in xk6-faker: `5` and `"5"` are the same.
///
/// # Errors
/// What the conversion of an object throws; a RangeError for a list that is too long.
pub(super) fn argument<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    function: &str,
    parameter: &str,
) -> Result<Argument> {
    if value.is_undefined() {
        return Ok(Argument::Missing);
    }
    let Some(list) = value.as_array() else {
        return text(ctx, value.clone()).map(Argument::Text);
    };
    let too_long = |found: &str, most: &str| {
        let text = format!("{function}(): `{parameter}` has {found}; expected at most {most}");
        Exception::throw_range(ctx, &text)
    };
    if list.len() > MOST_ITEMS {
        return Err(too_long(
            &format!("{} items", list.len()),
            &MOST_ITEMS.to_string(),
        ));
    }
    let (mut texts, mut n_bytes) = (Vec::new(), 0);
    for item in items::<Value<'js>>(list)? {
        let item = text(ctx, item?)?;
        n_bytes += item.len();
        if n_bytes > MOST_BYTES {
            return Err(too_long("more than 16 MiB of text", "that"));
        }
        texts.push(item);
    }
    Ok(Argument::List(texts))
}

/// The text of a value. Unlike in most functions of k6, `null` is not empty.
fn text<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<String> {
    if value.is_null() {
        return Ok("null".to_owned());
    }
    Text::from_js(ctx, value).map(|text| text.0)
}

/// A result of a function.
///
/// # Errors
/// When there is no memory for it.
pub(super) fn value_of<'js>(ctx: &Ctx<'js>, value: Invented) -> Result<Value<'js>> {
    match value {
        Invented::Text(text) => text.as_ref().into_js(ctx),
        Invented::Number(number) => number.into_js(ctx),
        Invented::Boolean(is) => is.into_js(ctx),
        Invented::List(items) => {
            let list = Array::new(ctx.clone())?;
            for (index, item) in items.into_iter().enumerate() {
                list.set(index, value_of(ctx, item)?)?;
            }
            Ok(list.into_value())
        }
        Invented::Object(fields) => {
            let object = Object::new(ctx.clone())?;
            for (name, value) in fields {
                // Not set: a script may name a team `__proto__`.
                let property = Property::from(value_of(ctx, value)?);
                object.prop(name.as_ref(), property.writable().enumerable().configurable())?;
            }
            Ok(object.into_value())
        }
    }
}
