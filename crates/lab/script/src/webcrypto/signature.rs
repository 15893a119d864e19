//! Signatures and their verification.

use super::{
    algorithm::{Algorithm, Family},
    error::Error,
    hash::Hash,
    key::{Key, Material, unfit},
    rsa::Padding,
    usage::Usage,
};

/// An algorithm with the parameters of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// HMAC; the digest belongs to the key.
    Hmac,
    /// ECDSA with this digest.
    Ecdsa(Hash),
    /// RSASSA-PKCS1-v1_5; the digest belongs to the key.
    RsaPkcs1,
    /// RSA-PSS with a salt of so many bytes; the digest belongs to the key.
    RsaPss(usize),
}

impl Scheme {
    fn family(self) -> Family {
        match self {
            Self::Hmac => Family::Hmac,
            Self::Ecdsa(_) => Family::Ecdsa,
            Self::RsaPkcs1 => Family::RsaPkcs1,
            Self::RsaPss(_) => Family::RsaPss,
        }
    }

    /// The signature of `data`.
    ///
    /// # Errors
    /// When the key does not fit.
    pub(crate) fn sign(self, key: &Key, data: &[u8]) -> Result<Vec<u8>, Error> {
        self.fits(key, "sign()")?;
        key.allow(Usage::Sign)?;
        match (self, &key.material, key.algorithm) {
            (Self::Hmac, Material::Secret(secret), Algorithm::Hmac(hash)) => Ok(hash.hmac(secret, data)),
            (Self::Ecdsa(hash), Material::EcPrivate(private), _) => private.sign(&hash.digest(data)),
            (Self::RsaPkcs1, Material::RsaPrivate(private), Algorithm::RsaPkcs1(hash)) => {
                private.sign(Padding::Pkcs1, hash, data)
            }
            (Self::RsaPss(salt), Material::RsaPrivate(private), Algorithm::RsaPss(hash)) => {
                private.sign(Padding::Pss(salt), hash, data)
            }
            _ => Err(unfit(key, "sign()")),
        }
    }

    /// Whether `signature` is one of the key's owner for `data`.
    ///
    /// # Errors
    /// When the key does not fit.
    pub(crate) fn verify(self, key: &Key, signature: &[u8], data: &[u8]) -> Result<bool, Error> {
        self.fits(key, "verify()")?;
        key.allow(Usage::Verify)?;
        match (self, &key.material, key.algorithm) {
            (Self::Hmac, Material::Secret(secret), Algorithm::Hmac(hash)) => {
                Ok(hash.hmac(secret, data) == signature)
            }
            (Self::Ecdsa(hash), Material::EcPublic(public), _) => {
                Ok(public.verify(&hash.digest(data), signature))
            }
            (Self::RsaPkcs1, Material::RsaPublic(public), Algorithm::RsaPkcs1(hash)) => {
                Ok(public.verify(Padding::Pkcs1, hash, data, signature))
            }
            (Self::RsaPss(salt), Material::RsaPublic(public), Algorithm::RsaPss(hash)) => {
                Ok(public.verify(Padding::Pss(salt), hash, data, signature))
            }
            _ => Err(unfit(key, "verify()")),
        }
    }

    fn fits(self, key: &Key, what: &str) -> Result<(), Error> {
        if key.algorithm.family() == self.family() {
            return Ok(());
        }
        Err(unfit(key, &format!("{what} with {}", self.family().name())))
    }
}
