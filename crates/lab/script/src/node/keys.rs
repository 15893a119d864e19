//! Keys of pairs for Node's `crypto`: RSA, and the curves P-256, P-384 and P-521.

use std::rc::Rc;

use rquickjs::{
    Class, Ctx, Exception, Function, IntoJs as _, JsLifetime, Object, Result, Value, class::Trace,
};

use crate::{
    bytes,
    host::Host,
    native_memory::Held,
    webcrypto::{Curve, Envelope, Error, Form, Hash, Jwk, KeyType, Manner, Material, Padding, Unreadable},
};

/// A private or a public key.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "NativeKey")]
struct Key {
    #[qjs(skip_trace)]
    material: Rc<Material>,
    #[qjs(skip_trace)]
    _held: Held,
}

pub(super) fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("keyOfPem", Function::new(ctx.clone(), of_pem)?)?;
    native.set("keyOfDer", Function::new(ctx.clone(), of_der)?)?;
    native.set("keyOfJwk", Function::new(ctx.clone(), of_jwk)?)?;
    native.set("newRsaKey", Function::new(ctx.clone(), new_rsa)?)?;
    native.set("newEcKey", Function::new(ctx.clone(), new_ec)?)
}

/// The key of a PEM text, or why there is none: `none`, `encrypted` or `unsupported`.
fn of_pem<'js>(ctx: Ctx<'js>, is_private: bool, text: Value<'js>) -> Result<Value<'js>> {
    let text = bytes::of(&ctx, &text, "a key")?;
    match Material::of_pem(&String::from_utf8_lossy(&text), key_type(is_private)) {
        Ok(material) => wanted(&ctx, is_private, material),
        Err(Unreadable::NoKey) => "none".into_js(&ctx),
        Err(Unreadable::Encrypted) => "encrypted".into_js(&ctx),
        Err(Unreadable::Unsupported) => "unsupported".into_js(&ctx),
    }
}

/// The key of a document, or `unsupported`.
fn of_der<'js>(ctx: Ctx<'js>, is_private: bool, form: String, der: Value<'js>) -> Result<Value<'js>> {
    let der = bytes::of(&ctx, &der, "a key")?;
    // A public key can be found in a private one, too.
    let types: &[_] = if is_private {
        &[KeyType::Private]
    } else {
        &[KeyType::Public, KeyType::Private]
    };
    let read = |form| types.iter().find_map(|of| Material::of_der(form, *of, &der));
    match Form::parse(&form).and_then(read) {
        Some(material) => wanted(&ctx, is_private, material),
        None => "unsupported".into_js(&ctx),
    }
}

/// The key of a JSON Web Key, given as JSON.
fn of_jwk(ctx: Ctx<'_>, is_private: bool, text: String) -> Result<Value<'_>> {
    let jwk = serde_json::from_str::<Jwk>(&text);
    let jwk = jwk.map_err(|error| {
        Exception::throw_message(&ctx, &format!("the key is not a JSON Web Key: {error}"))
    })?;
    let material = jwk.of_a_pair().map_err(|error| thrown(&ctx, &error))?;
    wanted(&ctx, is_private, material)
}

fn new_rsa<'js>(ctx: Ctx<'js>, bits: usize, exponent: Value<'js>) -> Result<Value<'js>> {
    let exponent = bytes::of(&ctx, &exponent, "publicExponent")?;
    let material = Material::generate_rsa(bits, &exponent).map_err(|error| thrown(&ctx, &error))?;
    object(&ctx, material)?.into_js(&ctx)
}

fn new_ec(ctx: Ctx<'_>, curve: String) -> Result<Value<'_>> {
    let material = Curve::parse(&curve).and_then(Material::generate_ec);
    object(&ctx, material.map_err(|error| thrown(&ctx, &error))?)?.into_js(&ctx)
}

/// The object of a key, or of the public half of a private key.
fn wanted<'js>(ctx: &Ctx<'js>, is_private: bool, material: Material) -> Result<Value<'js>> {
    let found = if is_private {
        Some(material).filter(|material| material.key_type() == KeyType::Private)
    } else {
        material.public_half()
    };
    match found {
        Some(material) => object(ctx, material)?.into_js(ctx),
        None => "none".into_js(ctx),
    }
}

fn object<'js>(ctx: &Ctx<'js>, material: Material) -> Result<Class<'js, Key>> {
    let held = Host::of(ctx).memory.hold(ctx, material.n_bytes(), "keys")?;
    let material = Rc::new(material);
    Class::instance(
        ctx.clone(),
        Key {
            material,
            _held: held,
        },
    )
}

fn key_type(is_private: bool) -> KeyType {
    if is_private {
        KeyType::Private
    } else {
        KeyType::Public
    }
}

fn thrown(ctx: &Ctx<'_>, error: &Error) -> rquickjs::Error {
    Exception::throw_message(ctx, &error.text)
}

/// The bytes that a key has made, or its error.
fn answer<'js>(ctx: &Ctx<'js>, made: std::result::Result<Vec<u8>, Error>) -> Result<Value<'js>> {
    bytes::buffer(ctx, &made.map_err(|error| thrown(ctx, &error))?)
}

/// `salt` is a number of bytes; negative for the longest one in a new signature, and any in others. Without it, the
/// padding is that of PKCS#1.
fn manner(ctx: &Ctx<'_>, hash: &str, salt: Option<i32>, is_der: bool) -> Result<Manner> {
    let padding = match salt {
        None => Padding::Pkcs1,
        Some(salt) => usize::try_from(salt).map_or(Padding::PssOfAnySalt, Padding::Pss),
    };
    Ok(Manner {
        hash: Hash::parse(hash).map_err(|error| thrown(ctx, &error))?,
        padding,
        is_der,
    })
}

/// OAEP with the digest and the label, or PKCS#1 without a digest.
fn envelope<'a>(ctx: &Ctx<'_>, hash: Option<&str>, label: &'a [u8]) -> Result<Envelope<'a>> {
    match hash {
        None => Ok(Envelope::Pkcs1),
        Some(hash) => {
            let hash = Hash::parse(hash).map_err(|error| thrown(ctx, &error))?;
            Ok(Envelope::Oaep(hash, label))
        }
    }
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Key {
    /// The length of the modulus in bits; undefined for a curve.
    #[qjs(get)]
    fn bits(&self) -> Option<usize> {
        self.material.bits()
    }

    /// The public exponent, big-endian; undefined for a curve.
    #[qjs(get)]
    fn exponent<'js>(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        match self.material.exponent() {
            Some(exponent) => bytes::buffer(&ctx, &exponent),
            None => Ok(Value::new_undefined(ctx)),
        }
    }

    /// The curve; undefined for RSA.
    #[qjs(get)]
    fn curve(&self) -> Option<&'static str> {
        self.material.curve().map(Curve::name)
    }

    fn public_half<'js>(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        wanted(&ctx, false, (*self.material).clone())
    }

    /// The key in a form; undefined if it has no such form.
    fn to_der<'js>(&self, ctx: Ctx<'js>, form: String) -> Result<Value<'js>> {
        match Form::parse(&form).map(|form| self.material.to_der(form)) {
            Some(Ok(der)) => bytes::buffer(&ctx, &der),
            _ => Ok(Value::new_undefined(ctx)),
        }
    }

    fn to_jwk<'js>(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        let jwk = Jwk::of_material(&self.material).map_err(|error| thrown(&ctx, &error))?;
        let text = serde_json::to_string(&jwk);
        ctx.json_parse(text.map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?)
    }

    fn sign<'js>(
        &self,
        ctx: Ctx<'js>,
        hash: String,
        salt: Option<i32>,
        is_der: bool,
        data: Value<'js>,
    ) -> Result<Value<'js>> {
        let manner = manner(&ctx, &hash, salt, is_der)?;
        let data = bytes::of(&ctx, &data, "sign()")?;
        let signature = self.material.sign(manner, &data);
        answer(&ctx, signature)
    }

    fn verify<'js>(
        &self,
        ctx: Ctx<'js>,
        hash: String,
        salt: Option<i32>,
        is_der: bool,
        data: Value<'js>,
        signature: Value<'js>,
    ) -> Result<bool> {
        let manner = manner(&ctx, &hash, salt, is_der)?;
        let data = bytes::of(&ctx, &data, "verify()")?;
        let signature = bytes::of(&ctx, &signature, "verify()")?;
        Ok(self.material.verify(manner, &data, &signature))
    }

    fn encrypt<'js>(
        &self,
        ctx: Ctx<'js>,
        hash: Option<String>,
        label: Value<'js>,
        data: Value<'js>,
    ) -> Result<Value<'js>> {
        let label = bytes::of(&ctx, &label, "oaepLabel")?;
        let envelope = envelope(&ctx, hash.as_deref(), &label)?;
        let data = bytes::of(&ctx, &data, "publicEncrypt()")?;
        let encrypted = self.material.encrypt(envelope, &data);
        answer(&ctx, encrypted)
    }

    fn decrypt<'js>(
        &self,
        ctx: Ctx<'js>,
        hash: Option<String>,
        label: Value<'js>,
        data: Value<'js>,
    ) -> Result<Value<'js>> {
        let label = bytes::of(&ctx, &label, "oaepLabel")?;
        let envelope = envelope(&ctx, hash.as_deref(), &label)?;
        let data = bytes::of(&ctx, &data, "privateDecrypt()")?;
        let decrypted = self.material.decrypt(envelope, &data);
        answer(&ctx, decrypted)
    }
}
