//! The algorithms of keys.

use super::{
    aes::Mode,
    ec::Curve,
    error::{Error, Kind},
    hash::Hash,
    usage::{
        Usage::{Decrypt, DeriveBits, DeriveKey, Encrypt, Sign, UnwrapKey, Verify, WrapKey},
        Usages,
    },
};

/// An algorithm by its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Aes(Mode),
    Hmac,
    Ecdsa,
    Ecdh,
    RsaOaep,
    RsaPss,
    RsaPkcs1,
    Pbkdf2,
}

/// The algorithm of a key, with the parameters that belong to the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// AES.
    Aes(Mode),
    /// HMAC with this digest.
    Hmac(Hash),
    /// ECDSA on this curve.
    Ecdsa(Curve),
    /// ECDH on this curve.
    Ecdh(Curve),
    /// RSA-OAEP with this digest.
    RsaOaep(Hash),
    /// RSA-PSS with this digest.
    RsaPss(Hash),
    /// RSASSA-PKCS1-v1_5 with this digest.
    RsaPkcs1(Hash),
    /// PBKDF2.
    Pbkdf2,
}

impl Family {
    const ALL: [Self; 10] = [
        Self::Aes(Mode::Cbc),
        Self::Aes(Mode::Ctr),
        Self::Aes(Mode::Gcm),
        Self::Hmac,
        Self::Ecdsa,
        Self::Ecdh,
        Self::RsaOaep,
        Self::RsaPss,
        Self::RsaPkcs1,
        Self::Pbkdf2,
    ];

    /// The algorithm of this name, in any case.
    ///
    /// # Errors
    /// When it is unknown.
    pub(crate) fn parse(name: &str) -> Result<Self, Error> {
        let found = Self::ALL
            .into_iter()
            .find(|family| family.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|family| family.name()).collect();
            let text = format!(
                "the algorithm `{name}` is not supported; expected one of {}",
                names.join(", ")
            );
            Kind::NotSupported.error(text)
        })
    }

    /// The name in W3C's specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Aes(mode) => mode.name(),
            Self::Hmac => "HMAC",
            Self::Ecdsa => "ECDSA",
            Self::Ecdh => "ECDH",
            Self::RsaOaep => "RSA-OAEP",
            Self::RsaPss => "RSA-PSS",
            Self::RsaPkcs1 => "RSASSA-PKCS1-v1_5",
            Self::Pbkdf2 => "PBKDF2",
        }
    }

    /// The usages of its secret or private keys.
    pub(crate) fn private_usages(self) -> Usages {
        match self {
            Self::Aes(_) => Usages::of(&[Encrypt, Decrypt, WrapKey, UnwrapKey]),
            Self::Hmac => Usages::of(&[Sign, Verify]),
            Self::Ecdsa | Self::RsaPss | Self::RsaPkcs1 => Usages::of(&[Sign]),
            Self::Ecdh | Self::Pbkdf2 => Usages::of(&[DeriveKey, DeriveBits]),
            Self::RsaOaep => Usages::of(&[Decrypt, UnwrapKey]),
        }
    }

    /// The usages of its public keys.
    pub(crate) fn public_usages(self) -> Usages {
        match self {
            Self::Aes(_) | Self::Hmac | Self::Ecdh | Self::Pbkdf2 => Usages::default(),
            Self::Ecdsa | Self::RsaPss | Self::RsaPkcs1 => Usages::of(&[Verify]),
            Self::RsaOaep => Usages::of(&[Encrypt, WrapKey]),
        }
    }
}

impl Algorithm {
    /// The algorithm without the parameters.
    pub(crate) fn family(self) -> Family {
        match self {
            Self::Aes(mode) => Family::Aes(mode),
            Self::Hmac(_) => Family::Hmac,
            Self::Ecdsa(_) => Family::Ecdsa,
            Self::Ecdh(_) => Family::Ecdh,
            Self::RsaOaep(_) => Family::RsaOaep,
            Self::RsaPss(_) => Family::RsaPss,
            Self::RsaPkcs1(_) => Family::RsaPkcs1,
            Self::Pbkdf2 => Family::Pbkdf2,
        }
    }

    /// The digest that belongs to the key.
    pub(crate) fn hash(self) -> Option<Hash> {
        match self {
            Self::Hmac(hash) | Self::RsaOaep(hash) | Self::RsaPss(hash) | Self::RsaPkcs1(hash) => Some(hash),
            Self::Aes(_) | Self::Ecdsa(_) | Self::Ecdh(_) | Self::Pbkdf2 => None,
        }
    }

    /// The curve of the key.
    pub(crate) fn curve(self) -> Option<Curve> {
        match self {
            Self::Ecdsa(curve) | Self::Ecdh(curve) => Some(curve),
            _ => None,
        }
    }
}
