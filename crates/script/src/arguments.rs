//! Texts as scripts pass them. k6's functions are written in Go, where a text is expected and anything is taken for one.

use rquickjs::{Coerced, Ctx, FromJs, Function, Object, Result, Value, function::This};

/// What JavaScript makes of a value as a text; of undefined and null an empty one, as in k6.
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
