//! The class `Blob`: bytes that are read asynchronously.

use std::rc::Rc;

use rquickjs::{
    ArrayBuffer, Class, Coerced, Ctx, Exception, IntoJs, JsLifetime, Promise, Result, TypedArray, Value,
    class::Trace, function::Opt,
};

use crate::bytes;

/// Bytes and what they are.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(frozen)]
pub(super) struct Blob {
    #[qjs(skip_trace)]
    bytes: Rc<Vec<u8>>,
    /// Where it begins and ends in them.
    start: usize,
    end: usize,
    kind: String,
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Blob {
    #[qjs(constructor)]
    fn new<'js>(ctx: Ctx<'js>, parts: Opt<Value<'js>>, options: Opt<Value<'js>>) -> Result<Self> {
        let mut all = Vec::new();
        if let Some(parts) = parts.0.filter(|parts| !parts.is_undefined()) {
            let Some(parts) = parts.as_array() else {
                let text = format!(
                    "failed to process [blobParts]: found {}; expected a list, for example new Blob(['text'])",
                    parts.type_name()
                );
                return Err(Exception::throw_type(&ctx, &text));
            };
            for part in parts.iter::<Value<'js>>() {
                append(&ctx, &part?, &mut all)?;
            }
        }
        let kind = options.0.as_ref().and_then(Value::as_object);
        let kind = kind
            .map(|options| options.get::<_, Option<Coerced<String>>>("type"))
            .transpose()?;
        let kind = kind.flatten().map(|kind| kind.0).unwrap_or_default();
        Ok(Self {
            kind,
            ..Self::from(all)
        })
    }

    #[qjs(get, enumerable)]
    fn size(&self) -> usize {
        self.as_bytes().len()
    }

    #[qjs(get, rename = "type", enumerable)]
    fn kind(&self) -> &str {
        &self.kind
    }

    fn text<'js>(&self, ctx: Ctx<'js>) -> Result<Promise<'js>> {
        let text = String::from_utf8_lossy(self.as_bytes()).into_owned();
        resolved(&ctx, text)
    }

    fn array_buffer<'js>(&self, ctx: Ctx<'js>) -> Result<Promise<'js>> {
        let buffer = ArrayBuffer::new_copy(ctx.clone(), self.as_bytes())?;
        resolved(&ctx, buffer)
    }

    fn bytes<'js>(&self, ctx: Ctx<'js>) -> Result<Promise<'js>> {
        let bytes = TypedArray::<u8>::new_copy(ctx.clone(), self.as_bytes())?;
        resolved(&ctx, bytes)
    }

    fn slice(&self, start: Opt<f64>, end: Opt<f64>, kind: Opt<Coerced<String>>) -> Self {
        let n_bytes = self.size();
        let start = bound(start.0.unwrap_or(0.0), n_bytes);
        let end = bound(end.0.unwrap_or(n_bytes as f64), n_bytes).max(start);
        Self {
            bytes: Rc::clone(&self.bytes),
            start: self.start + start,
            end: self.start + end,
            kind: kind.0.map(|kind| kind.0).unwrap_or_default(),
        }
    }
}

impl Blob {
    /// A blob without a type.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::from(bytes.to_vec())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            start: 0,
            end: bytes.len(),
            bytes: Rc::new(bytes),
            kind: String::new(),
        }
    }
}

fn append<'js>(ctx: &Ctx<'js>, part: &Value<'js>, all: &mut Vec<u8>) -> Result<()> {
    if let Some(text) = part.as_string() {
        all.extend_from_slice(text.clone().to_cstring()?.as_str().as_bytes());
    } else if let Some(blob) = part.as_object().and_then(Class::<Blob>::from_object) {
        all.extend_from_slice(blob.borrow().as_bytes());
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
    // A number that is none is 0.
    (from_start.max(0.0) as usize).min(n_bytes)
}

fn resolved<'js>(ctx: &Ctx<'js>, value: impl IntoJs<'js>) -> Result<Promise<'js>> {
    let (promise, resolve, _reject) = Promise::new(ctx)?;
    resolve.call::<_, ()>((value,))?;
    Ok(promise)
}
