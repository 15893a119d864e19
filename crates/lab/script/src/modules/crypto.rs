//! `k6/crypto`: digests, HMAC and random bytes.

use std::cell::RefCell;

use rquickjs::{
    ArrayBuffer, Class, Coerced, Ctx, Exception, Function, IntoJs as _, JsLifetime, Object, Result, Value,
    class::Trace, function::Opt,
};

use super::{
    encoding,
    module::{Module, same},
};
use crate::{
    arguments::Text,
    bytes,
    digests::{ALGORITHMS, Algorithm, Running},
};

pub(super) const MODULE: Module = Module {
    id: "k6/crypto",
    build,
    api: &[
        same("createHMAC"),
        same("createHash"),
        same("hexEncode"),
        same("hmac"),
        same("md4"),
        same("md5"),
        same("randomBytes"),
        same("ripemd160"),
        same("sha1"),
        same("sha256"),
        same("sha384"),
        same("sha512"),
        same("sha512_224"),
        same("sha512_256"),
    ],
};

/// The most that `randomBytes` gives at once: a script that wants more has a typing mistake.
const MAX_RANDOM_BYTES: usize = 64 << 20;

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    for algorithm in ALGORITHMS {
        let digest = move |ctx: Ctx<'js>, input: Value<'js>, encoding: Opt<Text>| {
            let mut hash = algorithm.hash();
            hash.update(&bytes::of(&ctx, &input, algorithm.name)?);
            encoded(&ctx, &hash.finish(), encoding.0.as_ref())
        };
        exports.set(algorithm.name, Function::new(ctx.clone(), digest)?)?;
    }
    exports.set("hmac", Function::new(ctx.clone(), hmac)?)?;
    exports.set("createHash", Function::new(ctx.clone(), create_hash)?)?;
    exports.set("createHMAC", Function::new(ctx.clone(), create_hmac)?)?;
    exports.set("randomBytes", Function::new(ctx.clone(), random_bytes)?)?;
    exports.set("hexEncode", Function::new(ctx.clone(), hex_encode)?)?;
    Ok(exports)
}

/// A digest in progress.
#[derive(Trace, JsLifetime)]
#[rquickjs::class]
struct Hasher {
    /// The running digest. As in k6, `digest` does not consume it, and more data can be added after it.
    #[qjs(skip_trace)]
    running: RefCell<Running>,
}

#[rquickjs::methods]
impl Hasher {
    fn update<'js>(&self, ctx: Ctx<'js>, input: Value<'js>) -> Result<()> {
        // Reading the input may call the script, which may have more for this very digest.
        let bytes = bytes::of(&ctx, &input, "update()")?;
        self.running.borrow_mut().update(&bytes);
        Ok(())
    }

    fn digest<'js>(&self, ctx: Ctx<'js>, encoding: Opt<Text>) -> Result<Value<'js>> {
        let digest = self.running.borrow().clone().finish();
        encoded(&ctx, &digest, encoding.0.as_ref())
    }
}

fn create_hash<'js>(ctx: Ctx<'js>, Text(algorithm): Text) -> Result<Class<'js, Hasher>> {
    let running = RefCell::new(find(&ctx, &algorithm)?.hash());
    Class::instance(ctx, Hasher { running })
}

fn create_hmac<'js>(ctx: Ctx<'js>, Text(algorithm): Text, key: Value<'js>) -> Result<Class<'js, Hasher>> {
    let key = bytes::of(&ctx, &key, "the key of createHMAC()")?;
    let running = RefCell::new(find(&ctx, &algorithm)?.hmac(&key));
    Class::instance(ctx, Hasher { running })
}

fn hmac<'js>(
    ctx: Ctx<'js>,
    Text(algorithm): Text,
    key: Value<'js>,
    data: Value<'js>,
    encoding: Opt<Text>,
) -> Result<Value<'js>> {
    let mut mac = find(&ctx, &algorithm)?.hmac(&bytes::of(&ctx, &key, "the key of hmac()")?);
    mac.update(&bytes::of(&ctx, &data, "hmac()")?);
    encoded(&ctx, &mac.finish(), encoding.0.as_ref())
}

fn find(ctx: &Ctx<'_>, name: &str) -> Result<&'static Algorithm> {
    ALGORITHMS
        .iter()
        .find(|algorithm| algorithm.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
            let text = format!("`{name}` is not a digest; expected one of {}", names.join(", "));
            Exception::throw_type(ctx, &text)
        })
}

/// The digest in one of k6's output encodings. As in k6, there is no default.
fn encoded<'js>(ctx: &Ctx<'js>, digest: &[u8], encoding: Option<&Text>) -> Result<Value<'js>> {
    match encoding.map_or("", |encoding| &encoding.0) {
        "hex" => hex(digest).into_js(ctx),
        "base64" => encoding::encode_standard(digest).into_js(ctx),
        "base64url" => encoding::encode_url(digest).into_js(ctx),
        "base64rawurl" => encoding::encode_raw_url(digest).into_js(ctx),
        "binary" => ArrayBuffer::new_copy(ctx.clone(), digest)?.into_js(ctx),
        other => {
            let text = format!(
                "`{other}` is not an output encoding; expected hex, base64, base64url, base64rawurl or binary"
            );
            Err(Exception::throw_type(ctx, &text))
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hex_encode<'js>(ctx: Ctx<'js>, input: Value<'js>) -> Result<String> {
    Ok(hex(&bytes::of(&ctx, &input, "hexEncode()")?))
}

fn random_bytes(ctx: Ctx<'_>, Coerced(length): Coerced<f64>) -> Result<ArrayBuffer<'_>> {
    if !(1.0..=MAX_RANDOM_BYTES as f64).contains(&length) {
        let text = format!("randomBytes() was asked for {length} bytes; expected 1 to {MAX_RANDOM_BYTES}");
        return Err(Exception::throw_range(&ctx, &text));
    }
    let mut bytes = vec![0_u8; length as usize];
    getrandom::fill(&mut bytes).map_err(|error| Exception::throw_internal(&ctx, &error.to_string()))?;
    // A copy, which counts as the script's memory.
    ArrayBuffer::new_copy(ctx, bytes)
}
