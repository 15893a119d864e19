//! `k6/encoding`: base64.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, IntoJs as _, Object, Result, Value, function::Opt};

use super::module::{Module, differs};
use crate::{arguments::Text, bytes};

pub(super) const MODULE: Module = Module {
    id: "k6/encoding",
    build,
    api: &[
        differs("b64decode", "an unknown variant is an error; k6 uses std"),
        differs("b64encode", "an unknown variant is an error; k6 uses std"),
    ],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    exports.set("b64encode", Function::new(ctx.clone(), encode)?)?;
    exports.set("b64decode", Function::new(ctx.clone(), decode)?)?;
    Ok(exports)
}

/// Base64 with this alphabet, with or without padding.
const fn engine(is_url: bool, has_padding: bool) -> GeneralPurpose {
    let alphabet = if is_url {
        &alphabet::URL_SAFE
    } else {
        &alphabet::STANDARD
    };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(has_padding)
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(if has_padding {
            DecodePaddingMode::RequireCanonical
        } else {
            DecodePaddingMode::RequireNone
        });
    GeneralPurpose::new(alphabet, config)
}

/// k6's base64 variant with this name; `std` without a name.
///
/// # Errors
/// A TypeError for an unknown name.
fn engine_of(ctx: &Ctx<'_>, name: &Opt<Text>) -> Result<GeneralPurpose> {
    match name.0.as_ref().map_or("", |name| &name.0) {
        "" | "std" => Ok(engine(false, true)),
        "rawstd" => Ok(engine(false, false)),
        "url" => Ok(engine(true, true)),
        "rawurl" => Ok(engine(true, false)),
        other => {
            let text = format!("`{other}` is not a base64 variant; expected std, rawstd, url or rawurl");
            Err(Exception::throw_type(ctx, &text))
        }
    }
}

/// URL-safe base64 without padding, as tokens have it.
pub(super) fn encode_raw_url(bytes: &[u8]) -> String {
    engine(true, false).encode(bytes)
}

/// Base64 as most have it.
pub(super) fn encode_standard(bytes: &[u8]) -> String {
    engine(false, true).encode(bytes)
}

/// URL-safe base64 with padding.
pub(super) fn encode_url(bytes: &[u8]) -> String {
    engine(true, true).encode(bytes)
}

fn encode<'js>(ctx: Ctx<'js>, input: Value<'js>, variant: Opt<Text>) -> Result<String> {
    let engine = engine_of(&ctx, &variant)?;
    Ok(engine.encode(bytes::of(&ctx, &input, "b64encode()")?))
}

fn decode<'js>(
    ctx: Ctx<'js>,
    Text(input): Text,
    variant: Opt<Text>,
    format: Opt<Text>,
) -> Result<Value<'js>> {
    let engine = engine_of(&ctx, &variant)?;
    // Lines of a message may be broken anywhere, as for k6.
    let input = input.replace(['\r', '\n'], "");
    let decoded = engine.decode(input).map_err(|error| {
        let text = format!(
            "b64decode() was given text that is not base64 ({error}); is it another variant, for example rawurl?"
        );
        Exception::throw_message(&ctx, &text)
    })?;
    match format.0.as_ref().map(|format| format.0.as_str()) {
        Some("s") => String::from_utf8_lossy(&decoded).as_ref().into_js(&ctx),
        // A copy, which counts as the script's memory.
        _ => ArrayBuffer::new_copy(ctx.clone(), decoded)?.into_js(&ctx),
    }
}
