//! `k6/crypto/x509`: the contents of certificates.

use rquickjs::{Ctx, Exception, Function, IntoJs as _, Object, Result, Value, function::Opt};

use self::{
    certificate::{Certificate, Name, PublicKey},
    distinguished_name as dn,
};
use super::module::{Module, differs, same};
use crate::bytes;

mod certificate;
mod distinguished_name;

pub(super) const MODULE: Module = Module {
    id: "k6/crypto/x509",
    build,
    api: &[
        same("getAltNames"),
        same("getIssuer"),
        same("getSubject"),
        differs(
            "parse",
            "publicKey.key has the numbers of the key, size() of RSA keys and curve.params() with name and bitSize, \
             but not the other methods of Go's types; RSA-PSS is named whatever the length of its salt",
        ),
    ],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    exports.set("parse", Function::new(ctx.clone(), parse)?)?;
    exports.set("getAltNames", Function::new(ctx.clone(), alt_names)?)?;
    exports.set("getIssuer", Function::new(ctx.clone(), issuer)?)?;
    exports.set("getSubject", Function::new(ctx.clone(), subject)?)?;
    Ok(exports)
}

/// The certificate in the argument of the function `what`.
fn read<'js>(ctx: &Ctx<'js>, pem: &Opt<Value<'js>>, what: &str) -> Result<Certificate> {
    let given = pem.0.as_ref().filter(|pem| !pem.is_undefined() && !pem.is_null());
    let pem = given.map_or(Ok(Vec::new()), |pem| bytes::of(ctx, pem, what))?;
    Certificate::from_pem(&pem).map_err(|error| Exception::throw_message(ctx, &error.to_string()))
}

fn parse<'js>(ctx: Ctx<'js>, pem: Opt<Value<'js>>) -> Result<Object<'js>> {
    let certificate = read(&ctx, &pem, "parse()")?;
    let key = certificate
        .public_key()
        .map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
    let object = Object::new(ctx.clone())?;
    object.set("subject", subject_object(&ctx, &certificate.subject())?)?;
    object.set("issuer", issuer_object(&ctx, &certificate.issuer())?)?;
    object.set("notBefore", certificate.not_before())?;
    object.set("notAfter", certificate.not_after())?;
    object.set("altNames", certificate.alt_names())?;
    object.set("signatureAlgorithm", certificate.signature_algorithm())?;
    object.set("fingerPrint", certificate.fingerprint().to_vec())?;
    object.set("publicKey", key_object(&ctx, &key)?)?;
    Ok(object)
}

fn alt_names<'js>(ctx: Ctx<'js>, pem: Opt<Value<'js>>) -> Result<Vec<String>> {
    Ok(read(&ctx, &pem, "getAltNames()")?.alt_names())
}

fn issuer<'js>(ctx: Ctx<'js>, pem: Opt<Value<'js>>) -> Result<Object<'js>> {
    issuer_object(&ctx, &read(&ctx, &pem, "getIssuer()")?.issuer())
}

fn subject<'js>(ctx: Ctx<'js>, pem: Opt<Value<'js>>) -> Result<Object<'js>> {
    subject_object(&ctx, &read(&ctx, &pem, "getSubject()")?.subject())
}

fn issuer_object<'js>(ctx: &Ctx<'js>, name: &Name) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("commonName", name.last(dn::COMMON_NAME))?;
    object.set("country", name.first(dn::COUNTRY))?;
    object.set("stateOrProvinceName", name.first(dn::STATE_OR_PROVINCE))?;
    object.set("localityName", name.first(dn::LOCALITY))?;
    object.set("organizationName", name.first(dn::ORGANIZATION))?;
    object.set("names", names(ctx, name)?)?;
    Ok(object)
}

fn subject_object<'js>(ctx: &Ctx<'js>, name: &Name) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("commonName", name.last(dn::COMMON_NAME))?;
    object.set("country", name.first(dn::COUNTRY))?;
    object.set("postalCode", name.first(dn::POSTAL_CODE))?;
    object.set("stateOrProvinceName", name.first(dn::STATE_OR_PROVINCE))?;
    object.set("localityName", name.first(dn::LOCALITY))?;
    object.set("streetAddress", name.first(dn::STREET_ADDRESS))?;
    object.set("organizationName", name.first(dn::ORGANIZATION))?;
    let units: Vec<_> = name.all(dn::ORGANIZATIONAL_UNIT).collect();
    object.set("organizationalUnitName", units)?;
    object.set("names", names(ctx, name)?)?;
    Ok(object)
}

fn names<'js>(ctx: &Ctx<'js>, name: &Name) -> Result<Value<'js>> {
    let part = |(kind, value): &(String, String)| {
        let part = Object::new(ctx.clone())?;
        part.set("type", kind.as_str())?;
        part.set("value", value.as_str())?;
        Ok(part)
    };
    let parts: Vec<_> = name.parts.iter().map(part).collect::<Result<_>>()?;
    parts.into_js(ctx)
}

fn key_object<'js>(ctx: &Ctx<'js>, key: &PublicKey) -> Result<Object<'js>> {
    let parts = Object::new(ctx.clone())?;
    match key {
        PublicKey::Rsa { modulus, exponent } => {
            let size = modulus.len();
            parts.set("n", big_integer(ctx, modulus)?)?;
            parts.set("e", *exponent as f64)?;
            parts.set("size", Function::new(ctx.clone(), move || size)?)?;
        }
        PublicKey::Dsa { p, q, g, y } => {
            for (name, number) in [("p", p), ("q", q), ("g", g), ("y", y)] {
                parts.set(name, big_integer(ctx, number)?)?;
            }
        }
        PublicKey::Ecdsa { curve, x, y } => {
            let (name, bits) = (curve.name, curve.n_bits);
            let params = move |ctx: Ctx<'js>| {
                let params = Object::new(ctx)?;
                params.set("name", name)?;
                params.set("bitSize", bits)?;
                Ok::<_, rquickjs::Error>(params)
            };
            let object = Object::new(ctx.clone())?;
            object.set("params", Function::new(ctx.clone(), params)?)?;
            parts.set("curve", object)?;
            parts.set("x", big_integer(ctx, x)?)?;
            parts.set("y", big_integer(ctx, y)?)?;
        }
    }
    let object = Object::new(ctx.clone())?;
    object.set("algorithm", key.algorithm())?;
    object.set("key", parts)?;
    Ok(object)
}

/// A number of any size as a BigInt; `bytes` begin with the highest.
fn big_integer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let convert: Function<'js> = ctx.globals().get("BigInt")?;
    convert.call((format!("0x0{digits}"),))
}

#[cfg(test)]
mod tests;
