//! Digests, HMACs, keys from passwords, and random bytes.

use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use crate::{
    bytes,
    digests::{ALGORITHMS, Algorithm},
};

/// The most that one call computes: far more than keys have.
const MAX_DERIVED_BYTES: usize = 1 << 20;

pub(super) fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("digests", Function::new(ctx.clone(), names)?)?;
    native.set("digest", Function::new(ctx.clone(), digest)?)?;
    native.set("hmac", Function::new(ctx.clone(), hmac)?)?;
    native.set("pbkdf2", Function::new(ctx.clone(), pbkdf2)?)?;
    native.set("random", Function::new(ctx.clone(), random)?)
}

fn names() -> Vec<&'static str> {
    ALGORITHMS.iter().map(|algorithm| algorithm.name).collect()
}

fn find(ctx: &Ctx<'_>, name: &str) -> Result<&'static Algorithm> {
    let found = ALGORITHMS.iter().find(|algorithm| algorithm.name == name);
    found.ok_or_else(|| Exception::throw_type(ctx, &format!("`{name}` is not a digest")))
}

fn digest<'js>(ctx: Ctx<'js>, name: String, data: Value<'js>) -> Result<Value<'js>> {
    let mut hash = find(&ctx, &name)?.hash();
    hash.update(&bytes::of(&ctx, &data, "update()")?);
    bytes::buffer(&ctx, &hash.finish())
}

fn hmac<'js>(ctx: Ctx<'js>, name: String, key: Value<'js>, data: Value<'js>) -> Result<Value<'js>> {
    let mut mac = find(&ctx, &name)?.hmac(&bytes::of(&ctx, &key, "the key")?);
    mac.update(&bytes::of(&ctx, &data, "update()")?);
    bytes::buffer(&ctx, &mac.finish())
}

/// RFC 8018 §5.2.
fn pbkdf2<'js>(
    ctx: Ctx<'js>,
    name: String,
    password: Value<'js>,
    salt: Value<'js>,
    n_iterations: u32,
    length: usize,
) -> Result<Value<'js>> {
    if length > MAX_DERIVED_BYTES {
        let text = format!("a key of {length} bytes is too long; expected at most {MAX_DERIVED_BYTES}");
        return Err(Exception::throw_range(&ctx, &text));
    }
    let algorithm = find(&ctx, &name)?;
    let keyed = algorithm.hmac(&bytes::of(&ctx, &password, "the password")?);
    let salt = bytes::of(&ctx, &salt, "the salt")?;
    let host = crate::host::Host::of(&ctx);
    let mut derived = Vec::new();
    for block in 1_u32.. {
        if derived.len() >= length {
            break;
        }
        let mut mac = keyed.clone();
        mac.update(&salt);
        mac.update(&block.to_be_bytes());
        let mut last = mac.finish();
        let mut all = last.clone();
        for iteration in 1..n_iterations {
            if iteration % 1_000 == 0 {
                host.take_turns(&ctx)?;
            }
            let mut mac = keyed.clone();
            mac.update(&last);
            last = mac.finish();
            all.iter_mut().zip(&last).for_each(|(byte, other)| *byte ^= other);
        }
        derived.extend(all);
    }
    derived.truncate(length);
    bytes::buffer(&ctx, &derived)
}

/// The most that one call of `random` gives, as for `k6/crypto`.
const MAX_RANDOM_BYTES: usize = 64 << 20;

fn random(ctx: Ctx<'_>, length: usize) -> Result<Value<'_>> {
    if length > MAX_RANDOM_BYTES {
        let text = format!("{length} random bytes are too many; expected at most {MAX_RANDOM_BYTES}");
        return Err(Exception::throw_range(&ctx, &text));
    }
    let mut random = vec![0_u8; length];
    getrandom::fill(&mut random).map_err(|error| Exception::throw_internal(&ctx, &error.to_string()))?;
    bytes::buffer(&ctx, &random)
}
