//! The class `Blob`: bytes that are read asynchronously.

use rquickjs::{
    ArrayBuffer, Class, Coerced, Ctx, Exception, JsLifetime, Promise, Result, TypedArray, Value,
    class::Trace, function::Opt,
};

use crate::{
    arguments::{Text, items, utf8},
    bytes,
    promises::resolved,
};

/// No blob can have more: the engine's heap has no room for it.
const MAX_BYTES: usize = 1 << 30;

/// Bytes and their type.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(frozen)]
pub(super) struct Blob<'js> {
    /// The bytes, in the engine's heap, so that they count as the script's memory. Scripts cannot reach them.
    bytes: ArrayBuffer<'js>,
    /// The beginning and the end of the blob in the bytes.
    start: usize,
    end: usize,
    kind: String,
}

#[rquickjs::methods(rename_all = "camelCase")]
impl<'js> Blob<'js> {
    #[qjs(constructor)]
    fn new(ctx: Ctx<'js>, parts: Opt<Value<'js>>, options: Opt<Value<'js>>) -> Result<Self> {
        let mut all = Vec::new();
        if let Some(parts) = parts.0.filter(|parts| !parts.is_undefined()) {
            let Some(parts) = parts.as_array() else {
                let text = format!(
                    "failed to process [blobParts]: found {}; expected a list, for example new Blob(['text'])",
                    parts.type_name()
                );
                return Err(Exception::throw_type(&ctx, &text));
            };
            for part in items::<Value<'js>>(parts)? {
                append(&ctx, &part?, &mut all)?;
                if all.len() > MAX_BYTES {
                    let text = format!("a Blob has {MAX_BYTES} bytes at most");
                    return Err(Exception::throw_range(&ctx, &text));
                }
            }
        }
        let kind = options.0.as_ref().and_then(Value::as_object);
        let kind = kind.map(|options| options.get::<_, Text>("type")).transpose()?;
        Ok(Self {
            kind: kind.map(|kind| kind.0).unwrap_or_default(),
            ..Self::of(&ctx, &all)?
        })
    }

    #[qjs(get, enumerable)]
    fn size(&self) -> usize {
        self.end - self.start
    }

    #[qjs(get, rename = "type", enumerable)]
    fn kind(&self) -> &str {
        &self.kind
    }

    fn text(&self, ctx: Ctx<'js>) -> Result<Promise<'js>> {
        let text = String::from_utf8_lossy(&self.copy()).into_owned();
        resolved(&ctx, text)
    }

    fn array_buffer(&self, ctx: Ctx<'js>) -> Result<Promise<'js>> {
        let buffer = ArrayBuffer::new_copy(ctx.clone(), self.copy())?;
        resolved(&ctx, buffer)
    }

    fn bytes(&self, ctx: Ctx<'js>) -> Result<Promise<'js>> {
        let bytes = TypedArray::<u8>::new_copy(ctx.clone(), self.copy())?;
        resolved(&ctx, bytes)
    }

    fn slice(&self, start: Opt<Coerced<f64>>, end: Opt<Value<'js>>, kind: Opt<Text>) -> Result<Self> {
        let n_bytes = self.size();
        let start = bound(start.0.map_or(0.0, |start| start.0), n_bytes);
        let end = match end.0.filter(|end| !end.is_undefined()) {
            Some(end) => bound(end.get::<Coerced<f64>>()?.0, n_bytes).max(start),
            None => n_bytes,
        };
        Ok(Self {
            bytes: self.bytes.clone(),
            start: self.start + start,
            end: self.start + end,
            kind: kind.0.map(|kind| kind.0).unwrap_or_default(),
        })
    }
}

impl<'js> Blob<'js> {
    /// A blob without a type.
    ///
    /// # Errors
    /// When the engine has no memory for it.
    pub(super) fn of(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Self> {
        Ok(Self {
            start: 0,
            end: bytes.len(),
            bytes: ArrayBuffer::new_copy(ctx.clone(), bytes)?,
            kind: String::new(),
        })
    }

    pub(super) fn copy(&self) -> Vec<u8> {
        bytes::part(&self.bytes, self.start..self.end).unwrap_or_default()
    }
}

fn append<'js>(ctx: &Ctx<'js>, part: &Value<'js>, all: &mut Vec<u8>) -> Result<()> {
    if let Some(text) = part.as_string() {
        all.extend_from_slice(utf8(text)?.as_bytes());
    } else if let Some(blob) = part.as_object().and_then(Class::<Blob<'_>>::from_object) {
        all.append(&mut blob.borrow().copy());
    } else if let Some(bytes) = bytes::copy(part) {
        all.extend_from_slice(&bytes);
    } else {
        let text = format!(
            "failed to process [blobParts]: unsupported type: {}; expected strings, ArrayBuffers, typed arrays and \
             Blobs",
            part.type_name()
        );
        return Err(Exception::throw_type(ctx, &text));
    }
    Ok(())
}

/// A bound of a slice; a negative one counts from the end.
fn bound(position: f64, n_bytes: usize) -> usize {
    let from_start = if position < 0.0 {
        position + n_bytes as f64
    } else {
        position
    };
    // NaN counts as 0.
    (from_start.max(0.0) as usize).min(n_bytes)
}
