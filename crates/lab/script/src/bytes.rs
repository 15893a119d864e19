//! Bytes that scripts hold: ArrayBuffers and views of them.

use std::ops::Range;

use rquickjs::{ArrayBuffer, Ctx, Exception, Result, Value};

use crate::arguments::utf8;

/// A copy of the bytes of an ArrayBuffer, a typed array or a DataView; `None` for anything else, and for a buffer that
/// was detached.
pub(crate) fn copy(value: &Value<'_>) -> Option<Vec<u8>> {
    if let Some(buffer) = ArrayBuffer::from_value(value.clone()) {
        return part(&buffer, 0..buffer.as_raw()?.len());
    }
    // The engine has thrown that it is no ArrayBuffer, which nothing may find later.
    drop(value.ctx().catch());
    let view = value.as_object()?;
    let offset: usize = view.get("byteOffset").ok()?;
    let length: usize = view.get("byteLength").ok()?;
    part(
        &view.get::<_, ArrayBuffer<'_>>("buffer").ok()?,
        offset..offset.checked_add(length)?,
    )
}

/// A copy of some bytes of a buffer; `None` when it has fewer.
pub(crate) fn part(buffer: &ArrayBuffer<'_>, range: Range<usize>) -> Option<Vec<u8>> {
    // SAFETY: no script runs until the copy is complete, so the buffer is neither changed nor detached meanwhile.
    #[expect(unsafe_code, reason = "the library has no copy of its own")]
    let bytes = unsafe { buffer.as_bytes() }?;
    bytes.get(range).map(<[u8]>::to_vec)
}

/// A new ArrayBuffer.
///
/// # Errors
/// A TypeError in a runtime without ArrayBuffers: the loader found no use of bytes in the script's text.
pub(crate) fn buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    if ctx.globals().contains_key("ArrayBuffer")? {
        return ArrayBuffer::new_copy(ctx.clone(), bytes).map(ArrayBuffer::into_value);
    }
    let text = "the script needs ArrayBuffers, but its text does not mention them (`responseType` may come from \
        data, for example), so its users were created without them; write the word ArrayBuffer in the script, for \
        example in a comment";
    Err(Exception::throw_type(ctx, text))
}

/// The bytes of a text (UTF-8) or of a value that [`copy`] reads.
///
/// # Errors
/// A TypeError that names the called function `what`, for any other value.
pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>, what: &str) -> Result<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Ok(utf8(text)?.into_bytes());
    }
    copy(value).ok_or_else(|| {
        let text = format!(
            "{what} was given {}; expected a string, an ArrayBuffer or a view of one",
            value.type_name()
        );
        Exception::throw_type(ctx, &text)
    })
}
