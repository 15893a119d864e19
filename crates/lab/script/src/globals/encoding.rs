//! `TextEncoder` and `TextDecoder` (WHATWG Encoding), UTF-8 only.

use rquickjs::{
    Class, Ctx, Error, Exception, JsLifetime, Object, Result, TypedArray, Value,
    class::{JsClass, Trace},
    function::{Constructor, Opt},
};

use super::{Reachable, deferred};
use crate::{arguments::Text, bytes, modules::is_truthy};

/// Installs those that the script can reach.
pub(super) fn install(globals: &Object<'_>, reachable: &Reachable) -> Result<()> {
    if reachable.has("TextEncoder") {
        deferred::define(globals, "TextEncoder", make::<TextEncoder>)?;
    }
    if reachable.has("TextDecoder") {
        deferred::define(globals, "TextDecoder", make::<TextDecoder>)?;
    }
    Ok(())
}

fn make<'js, C: JsClass<'js>>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    Class::<C>::create_constructor(ctx)?.ok_or(Error::Unknown)
}

#[derive(Trace, JsLifetime)]
#[rquickjs::class]
struct TextEncoder {}

#[rquickjs::methods]
impl TextEncoder {
    #[qjs(constructor)]
    fn new() -> Self {
        Self {}
    }

    #[qjs(get)]
    fn encoding(&self) -> &'static str {
        "utf-8"
    }

    fn encode<'js>(&self, ctx: Ctx<'js>, text: Opt<Text>) -> Result<TypedArray<'js, u8>> {
        // A copy, which counts as the script's memory.
        TypedArray::new_copy(ctx, text.0.map(|text| text.0).unwrap_or_default())
    }
}

#[derive(Trace, JsLifetime)]
#[rquickjs::class]
struct TextDecoder {
    /// Whether malformed bytes are an error.
    is_fatal: bool,
    /// Whether a byte order mark is kept.
    keeps_bom: bool,
}

#[rquickjs::methods]
impl TextDecoder {
    #[qjs(constructor)]
    fn new<'js>(ctx: Ctx<'js>, label: Opt<Text>, options: Opt<Option<Object<'js>>>) -> Result<Self> {
        let label = label
            .0
            .map(|label| label.0.to_ascii_lowercase())
            .unwrap_or_default();
        if !matches!(label.trim(), "" | "utf-8" | "utf8" | "unicode-1-1-utf-8") {
            let text = format!("TextDecoder supports only utf-8, not `{label}`");
            return Err(Exception::throw_range(&ctx, &text));
        }
        let options = options.0.flatten();
        let option = |name: &str| match &options {
            Some(options) => options.get::<_, Value<'js>>(name).map(|value| is_truthy(&value)),
            None => Ok(false),
        };
        Ok(Self {
            is_fatal: option("fatal")?,
            keeps_bom: option("ignoreBOM")?,
        })
    }

    #[qjs(get)]
    fn encoding(&self) -> &'static str {
        "utf-8"
    }

    #[qjs(get)]
    fn fatal(&self) -> bool {
        self.is_fatal
    }

    fn decode<'js>(&self, ctx: Ctx<'js>, input: Opt<Value<'js>>) -> Result<String> {
        let bytes = input
            .0
            .map_or(Ok(Vec::new()), |input| bytes::of(&ctx, &input, "decode()"))?;
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if !self.keeps_bom => rest,
            _ => &bytes,
        };
        if self.is_fatal && std::str::from_utf8(bytes).is_err() {
            return Err(Exception::throw_type(&ctx, "the bytes are not UTF-8"));
        }
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}
