//! The functions of `crypto.subtle` (W3C Web Cryptography §14).

use rquickjs::{Coerced, Ctx, Function, Object, Result, Value, function::Rest};

use super::{
    answer::{self, Made, Step},
    call::Call,
    failure::Failure,
    parameters::hash_of,
};
use crate::webcrypto::{
    Derivation, Error, Family, Format, Generation, Jwk, Key, KeyData, Kind, Usage, export, import, key_bits,
};

type Operation = for<'js> fn(&Call<'js>) -> std::result::Result<Step, Failure>;

const OPERATIONS: [(&str, Operation); 12] = [
    ("decrypt", decrypt),
    ("deriveBits", derive_bits),
    ("deriveKey", derive_key),
    ("digest", digest),
    ("encrypt", encrypt),
    ("exportKey", export_key),
    ("generateKey", generate_key),
    ("importKey", import_key),
    ("sign", sign),
    ("unwrapKey", wrap),
    ("verify", verify),
    ("wrapKey", wrap),
];

/// The object.
pub(super) fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let subtle = Object::new(ctx.clone())?;
    for (name, operation) in OPERATIONS {
        let call = move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
            let call = Call::new(ctx, arguments.0);
            answer::promise(&call.ctx, operation(&call))
        };
        subtle.set(name, Function::new(ctx.clone(), call)?.with_name(name)?)?;
    }
    Ok(subtle)
}

fn digest(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let hash = hash_of(&call.value(0), "digest()")?;
    let data = call.bytes(1, "the data of digest()")?;
    Ok(Step::Done(Made::Bytes(hash.digest(&data))))
}

fn encrypt(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let cipher = call.parameters(0, "encrypt()")?.cipher()?;
    let key = call.key(1, "the key of encrypt()")?;
    let data = call.bytes(2, "the data of encrypt()")?;
    Ok(Step::Done(Made::Bytes(cipher.encrypt(&key, &data)?)))
}

fn decrypt(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let cipher = call.parameters(0, "decrypt()")?.cipher()?;
    let key = call.key(1, "the key of decrypt()")?;
    let data = call.bytes(2, "the data of decrypt()")?;
    with_key(&key, move |key| cipher.decrypt(key, &data).map(Made::Bytes))
}

fn sign(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let scheme = call.parameters(0, "sign()")?.scheme()?;
    let key = call.key(1, "the key of sign()")?;
    let data = call.bytes(2, "the data of sign()")?;
    with_key(&key, move |key| scheme.sign(key, &data).map(Made::Bytes))
}

fn verify(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let scheme = call.parameters(0, "verify()")?.scheme()?;
    let key = call.key(1, "the key of verify()")?;
    let signature = call.bytes(2, "the signature of verify()")?;
    let data = call.bytes(3, "the data of verify()")?;
    with_key(&key, move |key| {
        scheme.verify(key, &signature, &data).map(Made::Truth)
    })
}

fn generate_key(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let parameters = call.parameters(0, "generateKey()")?;
    let is_rsa = matches!(
        parameters.family,
        Family::RsaOaep | Family::RsaPss | Family::RsaPkcs1
    );
    let mut exponent = Vec::new();
    if is_rsa {
        exponent = parameters.required_bytes("publicExponent")?;
    }
    let generation = Generation {
        algorithm: parameters.algorithm()?,
        bits: parameters.number(if is_rsa { "modulusLength" } else { "length" })?,
        exponent,
        is_extractable: call.flag(1),
        usages: call.usages(2)?,
    };
    if is_rsa {
        return Ok(Step::Slow(Box::new(move || {
            generation.generate().map(Made::from)
        })));
    }
    Ok(Step::Done(generation.generate()?.into()))
}

fn import_key(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let data = match Format::parse(&call.text(0)?)? {
        Format::Raw => KeyData::Raw(call.bytes(1, "keyData")?),
        Format::Pkcs8 => KeyData::Pkcs8(call.bytes(1, "keyData")?),
        Format::Spki => KeyData::Spki(call.bytes(1, "keyData")?),
        Format::Jwk => KeyData::Jwk(Box::new(jwk(call)?)),
    };
    let parameters = call.parameters(2, "importKey()")?;
    let algorithm = parameters.algorithm()?;
    let bits = parameters.number("length")?;
    let key = import(&data, algorithm, bits, call.flag(3), call.usages(4)?)?;
    Ok(Step::Done(Made::Key(Box::new(key))))
}

fn jwk(call: &Call<'_>) -> std::result::Result<Jwk, Failure> {
    let value = call.value(1);
    if !value.is_object() {
        let text = format!(
            "keyData is {}; expected a JSON Web Key as an object, for example {{ kty: \"oct\", k: \"…\" }}",
            value.type_name()
        );
        return Err(Kind::Type.error(text).into());
    }
    let text = call.ctx.json_stringify(value)?;
    let text = text.map_or(Ok(String::new()), |text| text.to_string())?;
    let jwk = serde_json::from_str(&text);
    jwk.map_err(|error| {
        Kind::Data
            .error(format!("keyData is not a JSON Web Key: {error}"))
            .into()
    })
}

fn export_key(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let format = Format::parse(&call.text(0)?)?;
    let key = call.key(1, "the key of exportKey()")?;
    Ok(Step::Done(export(&key, format)?.into()))
}

fn derive_bits(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let derivation = call.parameters(0, "deriveBits()")?.derivation()?;
    let base = call.key(1, "the key of deriveBits()")?;
    let length = call.value(2);
    let mut bits = None;
    if !length.is_null() && !length.is_undefined() {
        bits = Some(length.get::<Coerced<f64>>()?.0 as usize);
    }
    let is_slow = matches!(derivation, Derivation::Pbkdf2 { .. });
    with_key_if(&base, is_slow, move |base| {
        derivation.bits(base, bits, Usage::DeriveBits).map(Made::Bytes)
    })
}

fn derive_key(call: &Call<'_>) -> std::result::Result<Step, Failure> {
    let derivation = call.parameters(0, "deriveKey()")?.derivation()?;
    let base = call.key(1, "the key of deriveKey()")?;
    let wanted = call.parameters(2, "deriveKey()")?;
    let algorithm = wanted.algorithm()?;
    let bits = key_bits(algorithm, wanted.number("length")?)?;
    let (is_extractable, usages) = (call.flag(3), call.usages(4)?);
    let is_slow = matches!(derivation, Derivation::Pbkdf2 { .. });
    with_key_if(&base, is_slow, move |base| {
        let secret = derivation.bits(base, Some(bits), Usage::DeriveKey)?;
        let key = import(&KeyData::Raw(secret), algorithm, None, is_extractable, usages)?;
        Ok(Made::Key(Box::new(key)))
    })
}

/// An operation with a key, elsewhere if the key is slow.
fn with_key(
    key: &Key,
    operation: impl FnOnce(&Key) -> std::result::Result<Made, Error> + Send + 'static,
) -> std::result::Result<Step, Failure> {
    with_key_if(key, false, operation)
}

/// The same, also elsewhere if the operation itself is slow: PBKDF2 is made to take long.
fn with_key_if(
    key: &Key,
    is_slow: bool,
    operation: impl FnOnce(&Key) -> std::result::Result<Made, Error> + Send + 'static,
) -> std::result::Result<Step, Failure> {
    if !is_slow && !key.is_slow() {
        return Ok(Step::Done(operation(key)?));
    }
    let key = key.clone();
    Ok(Step::Slow(Box::new(move || operation(&key))))
}

/// k6 has the names, too, and refuses the calls.
fn wrap(_: &Call<'_>) -> std::result::Result<Step, Failure> {
    let text = "wrapKey() and unwrapKey() are not supported; use exportKey() and encrypt(), decrypt() and importKey()";
    Err(Kind::NotSupported.error(text).into())
}
