//! Metadata of a script: an object of texts, and of bytes under names that end in `-bin`.

use plimsoll_clients::grpc::Metadata;
use rquickjs::{Array, Ctx, Object, Result, TypedArray, Value};

use crate::{arguments::utf8, bytes};

/// Reads metadata.
///
/// # Errors
/// For people, in the inner result: a value has the wrong type.
pub(super) fn read(value: &Value<'_>) -> Result<std::result::Result<Metadata, String>> {
    let mut metadata = Metadata::default();
    if value.is_null() || value.is_undefined() {
        return Ok(Ok(metadata));
    }
    let Some(object) = value.as_object().filter(|object| !object.is_array()) else {
        return Ok(Err("must be an object with key-value pairs".to_owned()));
    };
    for entry in object.props::<String, Value<'_>>() {
        let (name, value) = entry?;
        if name.ends_with("-bin") {
            // As in k6, no ArrayBuffers.
            let is_view = TypedArray::<u8>::from_value(value.clone()).is_ok();
            let Some(bytes) = bytes::copy(&value).filter(|_| is_view) else {
                return Ok(Err(format!("{name:?} value must be binary")));
            };
            metadata.add(&name, bytes);
        } else if let Some(text) = value.as_string() {
            metadata.add(&name, utf8(text)?);
        } else {
            return Ok(Err(format!("{name:?} value must be a string")));
        }
    }
    Ok(Ok(metadata))
}

/// Metadata for a script: lists of texts. Bytes that are not UTF-8 become U+FFFD, as in k6.
pub(super) fn object<'js>(ctx: &Ctx<'js>, metadata: &Metadata) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in metadata.iter() {
        let text = String::from_utf8_lossy(value);
        let values: Option<Array<'js>> = object.get(name)?;
        let values = match values {
            Some(values) => values,
            None => Array::new(ctx.clone())?,
        };
        values.set(values.len(), &*text)?;
        object.set(name, values)?;
    }
    Ok(object)
}
