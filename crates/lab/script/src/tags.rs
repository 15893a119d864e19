//! Tags as scripts write them: objects of texts, numbers and truth values.

use std::collections::BTreeMap;

use rquickjs::{Ctx, Exception, FromJs as _, Result, Value};

use crate::arguments::Text;

/// Reads tags. `what` says in an error whose they are.
///
/// # Errors
/// A TypeError when it is not an object, or has a value that is not a tag.
pub(crate) fn read<'js>(ctx: &Ctx<'js>, tags: &Value<'js>, what: &str) -> Result<BTreeMap<String, String>> {
    let Some(object) = tags.as_object() else {
        let text = format!(
            "{what} are {}; expected an object, for example {{ page: 'home' }}",
            tags.type_name()
        );
        return Err(Exception::throw_type(ctx, &text));
    };
    object
        .props::<String, Value<'js>>()
        .map(|entry| {
            let (name, value) = entry?;
            Ok((name.clone(), value_of(ctx, &name, &value)?))
        })
        .collect()
}

/// The value of one tag.
///
/// # Errors
/// A TypeError when it cannot be one.
pub(crate) fn value_of<'js>(ctx: &Ctx<'js>, name: &str, value: &Value<'js>) -> Result<String> {
    if value.is_string() || value.is_number() || value.is_bool() {
        return Text::from_js(ctx, value.clone()).map(|text| text.0);
    }
    let text = format!(
        "the tag `{name}` is {}; expected a string, a number or a boolean",
        value.type_name()
    );
    Err(Exception::throw_type(ctx, &text))
}

/// Tags as recorders take them.
pub(crate) fn pairs(tags: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    tags.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}
