//! The dictionaries that name an algorithm: `"AES-CBC"` or `{ name: "AES-CBC", iv }`.

use std::num::NonZeroU32;

use rquickjs::{Coerced, Object, Value};

use super::{
    failure::{Failure, not_bytes},
    key_object::key_of,
};
use crate::{
    arguments::Text,
    bytes,
    webcrypto::{Algorithm, Cipher, Curve, Derivation, Error, Family, Hash, Kind, Mode, Scheme},
};

/// The most iterations of PBKDF2. Reason: they take seconds here, and a script that wants more has a typing mistake.
const MAX_ITERATIONS: usize = 10_000_000;

/// An algorithm with its parameters, which are read when an operation needs them.
pub(super) struct Parameters<'js> {
    /// The algorithm.
    pub(super) family: Family,
    object: Option<Object<'js>>,
    what: &'static str,
}

impl<'js> Parameters<'js> {
    /// The algorithm in a value, for the operation `what`.
    pub(super) fn read(value: Value<'js>, what: &'static str) -> Result<Self, Failure> {
        let name = name_of(&value, what)?;
        Ok(Self {
            family: Family::parse(&name)?,
            object: value.into_object(),
            what,
        })
    }

    /// The algorithm of the key that is imported, generated or derived.
    pub(super) fn algorithm(&self) -> Result<Algorithm, Failure> {
        Ok(match self.family {
            Family::Aes(mode) => Algorithm::Aes(mode),
            Family::Hmac => Algorithm::Hmac(self.hash()?),
            Family::Ecdsa => Algorithm::Ecdsa(self.curve()?),
            Family::Ecdh => Algorithm::Ecdh(self.curve()?),
            Family::RsaOaep => Algorithm::RsaOaep(self.hash()?),
            Family::RsaPss => Algorithm::RsaPss(self.hash()?),
            Family::RsaPkcs1 => Algorithm::RsaPkcs1(self.hash()?),
            Family::Pbkdf2 => Algorithm::Pbkdf2,
        })
    }

    /// The algorithm and its parameters for encrypting or decrypting.
    pub(super) fn cipher(&self) -> Result<Cipher, Failure> {
        match self.family {
            Family::Aes(Mode::Cbc) => Ok(Cipher::Cbc {
                iv: self.required_bytes("iv")?,
            }),
            Family::Aes(Mode::Ctr) => Ok(Cipher::Ctr {
                counter: self.required_bytes("counter")?,
                bits: bits(self.required_number("length")?),
            }),
            Family::Aes(Mode::Gcm) => Ok(Cipher::Gcm {
                iv: self.required_bytes("iv")?,
                additional: self.bytes("additionalData")?.unwrap_or_default(),
                // k6 takes 0 for 128 bits.
                tag_bits: bits(self.number("tagLength")?.filter(|bits| *bits != 0).unwrap_or(128)),
            }),
            Family::RsaOaep => Ok(Cipher::Oaep {
                label: self.bytes("label")?.unwrap_or_default(),
            }),
            _ => Err(self.unfit("AES-CBC, AES-CTR, AES-GCM or RSA-OAEP")),
        }
    }

    /// The algorithm and its parameters for signing or verifying.
    pub(super) fn scheme(&self) -> Result<Scheme, Failure> {
        match self.family {
            Family::Hmac => Ok(Scheme::Hmac),
            Family::Ecdsa => Ok(Scheme::Ecdsa(self.hash()?)),
            Family::RsaPkcs1 => Ok(Scheme::RsaPkcs1),
            Family::RsaPss => Ok(Scheme::RsaPss(self.required_number("saltLength")?)),
            _ => Err(self.unfit("HMAC, ECDSA, RSA-PSS or RSASSA-PKCS1-v1_5")),
        }
    }

    /// The algorithm and its parameters for deriving.
    pub(super) fn derivation(&self) -> Result<Derivation, Failure> {
        match self.family {
            Family::Pbkdf2 => {
                let iterations = self.required_number("iterations")?;
                let counted = u32::try_from(iterations).ok().and_then(NonZeroU32::new);
                let counted = counted.filter(|_| iterations <= MAX_ITERATIONS).ok_or_else(|| {
                    let text = format!("iterations is {iterations}; expected 1 to {MAX_ITERATIONS}");
                    Kind::Operation.error(text)
                })?;
                Ok(Derivation::Pbkdf2 {
                    hash: self.hash()?,
                    salt: self.required_bytes("salt")?,
                    iterations: counted,
                })
            }
            Family::Ecdh => {
                let public = self.required("public")?;
                let public = key_of(&public, "`public` of the algorithm")?;
                Ok(Derivation::Ecdh {
                    public: Box::new((*public).clone()),
                })
            }
            _ => Err(self.unfit("PBKDF2 or ECDH")),
        }
    }

    /// A length in bits, under this name; `None` when it is missing.
    pub(super) fn number(&self, name: &str) -> Result<Option<usize>, Failure> {
        let Some(value) = self.get(name)? else {
            return Ok(None);
        };
        let Coerced(number) = value.get::<Coerced<f64>>()?;
        if !(0.0..=f64::from(u32::MAX)).contains(&number) {
            let text = format!("`{name}` of the algorithm is {number}; expected a number from 0");
            return Err(Kind::Type.error(text).into());
        }
        Ok(Some(number as usize))
    }

    /// The bytes under this name.
    pub(super) fn required_bytes(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let value = self.required(name)?;
        bytes::copy(&value).ok_or_else(|| not_bytes(&format!("`{name}` of the algorithm"), &value))
    }

    fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        match self.get(name)? {
            Some(_) => self.required_bytes(name).map(Some),
            None => Ok(None),
        }
    }

    fn required_number(&self, name: &str) -> Result<usize, Failure> {
        self.number(name)?.ok_or_else(|| self.missing(name))
    }

    fn hash(&self) -> Result<Hash, Failure> {
        hash_of(&self.required("hash")?, self.what)
    }

    fn curve(&self) -> Result<Curve, Failure> {
        let name = self.required("namedCurve")?.get::<Text>()?;
        Ok(Curve::parse(&name.0)?)
    }

    fn required(&self, name: &str) -> Result<Value<'js>, Failure> {
        self.get(name)?.ok_or_else(|| self.missing(name))
    }

    fn get(&self, name: &str) -> Result<Option<Value<'js>>, Failure> {
        let Some(object) = &self.object else {
            return Ok(None);
        };
        let value: Value<'js> = object.get(name)?;
        Ok((!value.is_undefined() && !value.is_null()).then_some(value))
    }

    fn missing(&self, name: &str) -> Failure {
        let family = self.family.name();
        let text = format!(
            "{} with {family} needs `{name}`, for example {{ name: \"{family}\", {name}: … }}",
            self.what
        );
        Kind::Type.error(text).into()
    }

    fn unfit(&self, expected: &str) -> Failure {
        let text = format!(
            "{} does not work with {}; expected {expected}",
            self.what,
            self.family.name()
        );
        Kind::NotSupported.error(text).into()
    }
}

/// The digest in a value: its name, or an object with the name.
pub(super) fn hash_of(value: &Value<'_>, what: &str) -> Result<Hash, Failure> {
    Ok(Hash::parse(&name_of(value, what)?)?)
}

fn name_of(value: &Value<'_>, what: &str) -> Result<String, Failure> {
    if let Some(name) = value.as_string() {
        return Ok(name.to_string()?);
    }
    let name = match value.as_object() {
        Some(object) => object.get::<_, Value<'_>>("name")?,
        None => value.clone(),
    };
    let name = name.as_string().map(rquickjs::String::to_string).transpose()?;
    name.ok_or_else(|| without_name(what, value).into())
}

fn without_name(what: &str, value: &Value<'_>) -> Error {
    let text = format!(
        "the algorithm of {what} is {}; expected a name or an object with a `name`, for example {{ name: \"HMAC\", … }}",
        value.type_name()
    );
    Kind::Type.error(text)
}

fn bits(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
