//! The global `crypto`: random values (W3C Web Cryptography §10), and `subtle`.

use rquickjs::{
    Class, Ctx, Exception, Function, Object, Result, TypedArray, Value,
    function::{Constructor, This},
};

use self::key_object::KeyObject;

mod answer;
mod call;
mod failure;
mod key_object;
mod parameters;
mod subtle;

/// The most that one call fills (W3C Web Cryptography §10.1.1).
const MAX_BYTES: usize = 65_536;

/// The object.
pub(super) fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let crypto = Object::new(ctx.clone())?;
    crypto.set("getRandomValues", Function::new(ctx.clone(), get_random_values)?)?;
    crypto.set("randomUUID", Function::new(ctx.clone(), random_uuid)?)?;
    crypto.set("subtle", subtle::build(ctx)?)?;
    crypto.set("CryptoKey", Class::<KeyObject>::create_constructor(ctx)?)?;
    Ok(crypto)
}

fn get_random_values<'js>(ctx: Ctx<'js>, view: Object<'js>) -> Result<Object<'js>> {
    let length: Option<usize> = view.get("byteLength")?;
    let buffer: Value<'js> = view.get("buffer")?;
    let Some(length) = length.filter(|_| buffer.is_object()) else {
        return Err(Exception::throw_type(
            &ctx,
            "getRandomValues() needs a typed array, for example new Uint8Array(16)",
        ));
    };
    if length > MAX_BYTES {
        let text = format!("getRandomValues() fills at most {MAX_BYTES} bytes at once, not {length}");
        return Err(Exception::throw_range(&ctx, &text));
    }
    let mut random = vec![0; length];
    fill(&ctx, &mut random)?;
    let bytes: Constructor<'js> = ctx.globals().get("Uint8Array")?;
    let offset: usize = view.get("byteOffset")?;
    let target: Object<'js> = bytes.construct((buffer, offset, length))?;
    let set: Function<'js> = target.get("set")?;
    set.call::<_, ()>((This(target), TypedArray::<u8>::new(ctx, random)?))?;
    Ok(view)
}

/// A UUID of version 4 (RFC 9562 §5.4).
fn random_uuid(ctx: Ctx<'_>) -> Result<String> {
    let mut bytes = [0; 16];
    fill(&ctx, &mut bytes)?;
    let random = u128::from_be_bytes(bytes);
    let version = (random & !(0xf << 76)) | (0x4 << 76);
    let uuid = (version & !(0x3 << 62)) | (0x2 << 62);
    let hex = format!("{uuid:032x}");
    Ok(format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    ))
}

fn fill(ctx: &Ctx<'_>, bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| Exception::throw_internal(ctx, &error.to_string()))
}
