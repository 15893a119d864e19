//! Bytes that scripts hold: ArrayBuffers and views of them.

use rquickjs::{ArrayBuffer, Ctx, Exception, Result, Value};

/// A copy of the bytes of an ArrayBuffer, a typed array or a DataView; `None` for anything else, and for a buffer that
/// was detached.
pub(crate) fn copy(value: &Value<'_>) -> Option<Vec<u8>> {
    if let Some(buffer) = ArrayBuffer::from_value(value.clone()) {
        return whole(&buffer);
    }
    let view = value.as_object()?;
    let offset: usize = view.get("byteOffset").ok()?;
    let length: usize = view.get("byteLength").ok()?;
    let all = whole(&view.get::<_, ArrayBuffer<'_>>("buffer").ok()?)?;
    all.get(offset..offset.checked_add(length)?).map(<[u8]>::to_vec)
}

fn whole(buffer: &ArrayBuffer<'_>) -> Option<Vec<u8>> {
    // SAFETY: no script runs between here and the end of the copy, so that nobody changes or detaches the buffer.
    #[expect(unsafe_code, reason = "the library has no copy of its own")]
    let bytes = unsafe { buffer.as_bytes() }?;
    Some(bytes.to_vec())
}

/// The bytes of a text (UTF-8) or of what [`copy`] reads.
///
/// # Errors
/// A TypeError that names `what` was called, for anything else.
pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>, what: &str) -> Result<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Ok(text.to_string()?.into_bytes());
    }
    copy(value).ok_or_else(|| {
        let text = format!(
            "{what} was given {}; expected a text, an ArrayBuffer or a view of one",
            value.type_name()
        );
        Exception::throw_type(ctx, &text)
    })
}
