//! Bytes that scripts hold: ArrayBuffers and views of them.

use rquickjs::{ArrayBuffer, Value};

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
