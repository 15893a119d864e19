//! The class `CryptoKey`: a key whose numbers a script sees only when it exports them.

use std::rc::Rc;

use rquickjs::{Class, Ctx, Exception, JsLifetime, Object, Result, TypedArray, Value, class::Trace};

use super::failure::Failure;
use crate::{
    host::Host,
    native_memory::Held,
    webcrypto::{Family, Hash, Key, Kind, Usage},
};

/// A key.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "CryptoKey")]
pub(super) struct KeyObject {
    #[qjs(skip_trace)]
    key: Rc<Key>,
    #[qjs(skip_trace)]
    _held: Held,
}

#[rquickjs::methods(rename_all = "camelCase")]
impl KeyObject {
    #[qjs(constructor)]
    fn new(ctx: Ctx<'_>) -> Result<Self> {
        let text = "a CryptoKey cannot be constructed; use importKey(), generateKey() or deriveKey()";
        Err(Exception::throw_type(&ctx, text))
    }

    #[qjs(get, rename = "type", enumerable)]
    fn key_type(&self) -> &'static str {
        self.key.key_type().name()
    }

    #[qjs(get, enumerable)]
    fn extractable(&self) -> bool {
        self.key.is_extractable
    }

    #[qjs(get, enumerable)]
    fn algorithm<'js>(&self, ctx: Ctx<'js>) -> Result<Object<'js>> {
        let family = self.key.algorithm.family();
        let algorithm = Object::new(ctx.clone())?;
        algorithm.set("name", family.name())?;
        match family {
            Family::Aes(_) | Family::Hmac => algorithm.set("length", self.key.bits())?,
            Family::RsaOaep | Family::RsaPss | Family::RsaPkcs1 => {
                algorithm.set("modulusLength", self.key.bits())?;
                let exponent = self.key.exponent().unwrap_or_default();
                algorithm.set(
                    "publicExponent",
                    TypedArray::<u8>::new_copy(ctx.clone(), exponent)?,
                )?;
            }
            Family::Ecdsa | Family::Ecdh | Family::Pbkdf2 => {}
        }
        if let Some(curve) = self.key.algorithm.curve() {
            algorithm.set("namedCurve", curve.name())?;
        }
        if let Some(name) = self.key.algorithm.hash().map(Hash::name) {
            let hash = Object::new(ctx)?;
            hash.set("name", name)?;
            algorithm.set("hash", hash)?;
        }
        Ok(algorithm)
    }

    #[qjs(get, enumerable)]
    fn usages(&self) -> Vec<&'static str> {
        self.key.usages.iter().map(Usage::name).collect()
    }
}

impl KeyObject {
    /// The object of a key.
    ///
    /// # Errors
    /// When the script keeps too many keys.
    pub(super) fn of<'js>(ctx: &Ctx<'js>, key: Key) -> Result<Class<'js, Self>> {
        let held = Host::of(ctx).memory.hold(ctx, key.n_bytes(), "keys")?;
        let key = Rc::new(key);
        Class::instance(ctx.clone(), Self { key, _held: held })
    }

    /// The key.
    pub(super) fn key(&self) -> Rc<Key> {
        Rc::clone(&self.key)
    }
}

/// The key in a value, which the text calls `name`.
pub(super) fn key_of(value: &Value<'_>, name: &str) -> std::result::Result<Rc<Key>, Failure> {
    let object = value.as_object().and_then(Class::<KeyObject>::from_object);
    let key = object.map(|object| object.borrow().key());
    key.ok_or_else(|| {
        let text = format!(
            "{name} is {}; expected a key from importKey(), generateKey() or deriveKey()",
            value.type_name()
        );
        Kind::Type.error(text).into()
    })
}
