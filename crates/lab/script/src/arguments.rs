//! Texts and lists as scripts pass them. k6's functions are written in Go, where a text is expected and anything is taken
//! for one.

use rquickjs::{Array, Coerced, Ctx, Exception, FromJs, Function, Object, Result, Value, function::This};

/// The longest list that is read. A script can make one of four billion items that takes no memory.
const MAX_ITEMS: f64 = (1_u32 << 26) as f64;

/// A value converted to a string by JavaScript; empty for undefined and null, as in k6.
pub(crate) struct Text(pub(crate) String);

impl<'js> FromJs<'js> for Text {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        if value.is_undefined() || value.is_null() {
            return Ok(Self(String::new()));
        }
        let text = Coerced::<rquickjs::String<'js>>::from_js(ctx, value)?;
        utf8(&text.0).map(Self)
    }
}

/// A text in UTF-8. JavaScript has texts with half a surrogate pair, such as the first half of an emoji; where they leave
/// the script, such a half is U+FFFD, as in k6.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn utf8(text: &rquickjs::String<'_>) -> Result<String> {
    match text.to_string() {
        Err(rquickjs::Error::Utf8(_)) => well_formed(text)?.to_string(),
        other => other,
    }
}

fn well_formed<'js>(text: &rquickjs::String<'js>) -> Result<rquickjs::String<'js>> {
    let strings: Object<'js> = text.ctx().globals().get("String")?;
    let prototype: Object<'js> = strings.get("prototype")?;
    let to_well_formed: Function<'js> = prototype.get("toWellFormed")?;
    to_well_formed.call((This(text.clone()),))
}

/// The items of a list.
///
/// # Errors
/// A RangeError when there are too many; what reading an item throws.
pub(crate) fn items<'js, T: FromJs<'js>>(list: &Array<'js>) -> Result<impl Iterator<Item = Result<T>>> {
    let list = list.as_object().clone();
    let length: f64 = list.get("length")?;
    if length > MAX_ITEMS {
        let text = format!("a list of {length} items is too long; expected at most {MAX_ITEMS}");
        return Err(Exception::throw_range(list.ctx(), &text));
    }
    Ok((0..length as u32).map(move |index| list.get(index)))
}
