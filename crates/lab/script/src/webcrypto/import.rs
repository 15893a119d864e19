//! Keys from their formats.

use super::{
    algorithm::Algorithm,
    ec,
    error::{Error, Kind},
    jwk::Jwk,
    key::{Key, Material},
    rsa,
    usage::Usages,
};

/// A format of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Raw,
    Pkcs8,
    Spki,
    Jwk,
}

/// A key in its format.
pub(crate) enum KeyData {
    Raw(Vec<u8>),
    Pkcs8(Vec<u8>),
    Spki(Vec<u8>),
    Jwk(Box<Jwk>),
}

impl Format {
    const ALL: [Self; 4] = [Self::Raw, Self::Pkcs8, Self::Spki, Self::Jwk];

    /// The format of this name.
    ///
    /// # Errors
    /// When there is no such format.
    pub(crate) fn parse(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            Kind::NotSupported.error(format!(
                "`{name}` is not a key format; expected raw, pkcs8, spki or jwk"
            ))
        })
    }

    /// The name in W3C's specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Pkcs8 => "pkcs8",
            Self::Spki => "spki",
            Self::Jwk => "jwk",
        }
    }
}

impl KeyData {
    fn format(&self) -> Format {
        match self {
            Self::Raw(_) => Format::Raw,
            Self::Pkcs8(_) => Format::Pkcs8,
            Self::Spki(_) => Format::Spki,
            Self::Jwk(_) => Format::Jwk,
        }
    }
}

/// The key in `data`; `bits` is the `length` that a script gave for an HMAC key.
///
/// # Errors
/// When the data are malformed, or the algorithm has no keys of this format or usage.
pub(crate) fn import(
    data: &KeyData,
    algorithm: Algorithm,
    bits: Option<usize>,
    is_extractable: bool,
    usages: Usages,
) -> Result<Key, Error> {
    let material = match (data, algorithm) {
        (KeyData::Jwk(jwk), _) => jwk.material(algorithm)?,
        (KeyData::Raw(secret), Algorithm::Aes(_) | Algorithm::Hmac(_)) => Material::Secret(secret.clone()),
        (KeyData::Raw(password), Algorithm::Pbkdf2) => {
            if is_extractable {
                return Err(Kind::Syntax.error("a key of PBKDF2 must not be extractable; pass false"));
            }
            Material::Secret(password.clone())
        }
        (KeyData::Raw(point), Algorithm::Ecdsa(curve) | Algorithm::Ecdh(curve)) => {
            Material::EcPublic(ec::Public::from_point(curve, point)?)
        }
        (KeyData::Spki(der), Algorithm::Ecdsa(curve) | Algorithm::Ecdh(curve)) => {
            Material::EcPublic(ec::Public::from_spki(curve, der)?)
        }
        (KeyData::Pkcs8(der), Algorithm::Ecdsa(curve) | Algorithm::Ecdh(curve)) => {
            Material::EcPrivate(ec::Private::from_pkcs8(curve, der)?)
        }
        (KeyData::Spki(der), Algorithm::RsaOaep(_) | Algorithm::RsaPss(_) | Algorithm::RsaPkcs1(_)) => {
            Material::RsaPublic(Box::new(rsa::Public::from_spki(der)?))
        }
        (KeyData::Pkcs8(der), Algorithm::RsaOaep(_) | Algorithm::RsaPss(_) | Algorithm::RsaPkcs1(_)) => {
            Material::RsaPrivate(Box::new(rsa::Private::from_pkcs8(der)?))
        }
        _ => {
            let (format, family) = (data.format().name(), algorithm.family().name());
            return Err(Kind::NotSupported.error(format!("a key of {family} has no format `{format}`")));
        }
    };
    check_length(&material, algorithm, bits)?;
    Key::new(algorithm, material, is_extractable, usages)
}

fn check_length(material: &Material, algorithm: Algorithm, bits: Option<usize>) -> Result<(), Error> {
    let Material::Secret(secret) = material else {
        return Ok(());
    };
    let found = secret.len() * 8;
    match algorithm {
        Algorithm::Aes(mode) if !matches!(found, 128 | 192 | 256) => {
            let text = format!("a key of {} has 128, 192 or 256 bits, not {found}", mode.name());
            Err(Kind::Data.error(text))
        }
        Algorithm::Hmac(_) if found == 0 => Err(Kind::Data.error("a key of HMAC must not be empty")),
        Algorithm::Hmac(_) if bits.is_some_and(|bits| bits != found) => {
            let text = format!(
                "the key has {found} bits, and its `length` says {}",
                bits.unwrap_or_default()
            );
            Err(Kind::Data.error(text))
        }
        _ => Ok(()),
    }
}
