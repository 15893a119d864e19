//! Bits and keys from passwords (PBKDF2, RFC 8018) and from two keys (ECDH, NIST SP 800-56A).

use std::num::NonZeroU32;

use ring::pbkdf2;

use super::{
    algorithm::Algorithm,
    error::{Error, Kind},
    hash::Hash,
    key::{Key, Material, unfit},
    usage::Usage,
};

/// The most that PBKDF2 gives, in bits. Reason: a script that wants more has a typing mistake.
const MAX_BITS: usize = 1 << 20;

/// An algorithm with the parameters of one derivation.
#[derive(Clone)]
pub(crate) enum Derivation {
    /// PBKDF2.
    Pbkdf2 {
        /// The digest of its HMAC.
        hash: Hash,
        /// The salt.
        salt: Vec<u8>,
        /// The number of iterations.
        iterations: NonZeroU32,
    },
    /// ECDH.
    Ecdh {
        /// The public key of the other side.
        public: Box<Key>,
    },
}

impl Derivation {
    /// Derives bits from `base`; `None` for all bits of the secret of ECDH. `usage` is [`Usage::DeriveBits`] or
    /// [`Usage::DeriveKey`].
    ///
    /// # Errors
    /// When a key does not fit, or there are not so many bits.
    pub(crate) fn bits(&self, base: &Key, bits: Option<usize>, usage: Usage) -> Result<Vec<u8>, Error> {
        let what = usage.name();
        if let Some(bits) = bits.filter(|bits| *bits == 0 || bits % 8 != 0 || *bits > MAX_BITS) {
            let text =
                format!("{what}() was asked for {bits} bits; expected a multiple of 8, {MAX_BITS} at most");
            return Err(Kind::Operation.error(text));
        }
        match (self, &base.material, base.algorithm) {
            (
                Self::Pbkdf2 {
                    hash,
                    salt,
                    iterations,
                },
                Material::Secret(password),
                Algorithm::Pbkdf2,
            ) => {
                base.allow(usage)?;
                let bits = bits.ok_or_else(|| {
                    Kind::Operation.error(format!("{what}() with PBKDF2 needs the number of bits"))
                })?;
                let mut out = vec![0; bits / 8];
                pbkdf2::derive(prf(*hash), *iterations, salt, password, &mut out);
                Ok(out)
            }
            (Self::Ecdh { public }, Material::EcPrivate(private), Algorithm::Ecdh(_)) => {
                base.allow(usage)?;
                let (Material::EcPublic(other), Algorithm::Ecdh(_)) = (&public.material, public.algorithm)
                else {
                    return Err(unfit(public, "ECDH as `public`"));
                };
                let mut secret = private.agree(other).ok_or_else(|| {
                    let (own, other) = (private.curve().name(), other.curve().name());
                    Kind::InvalidAccess.error(format!("the keys of ECDH have the curves {own} and {other}"))
                })?;
                let n_bytes = bits.map_or(secret.len(), |bits| bits / 8);
                if n_bytes > secret.len() {
                    let text = format!(
                        "the secret of ECDH has {} bits, not {}",
                        secret.len() * 8,
                        n_bytes * 8
                    );
                    return Err(Kind::Operation.error(text));
                }
                secret.truncate(n_bytes);
                Ok(secret)
            }
            _ => Err(unfit(base, &format!("{what}()"))),
        }
    }
}

/// The length of a derived key, in bits, from its algorithm and the `length` that a script gave.
///
/// # Errors
/// When keys of the algorithm cannot be derived, or the length is not valid.
pub(crate) fn key_bits(algorithm: Algorithm, length: Option<usize>) -> Result<usize, Error> {
    match (algorithm, length) {
        (Algorithm::Aes(_), Some(bits @ (128 | 192 | 256))) => Ok(bits),
        (Algorithm::Aes(mode), length) => {
            let found = length.map_or("missing".to_owned(), |bits| bits.to_string());
            let text = format!(
                "the length of a key for {} is {found}; expected 128, 192 or 256",
                mode.name()
            );
            Err(Kind::Operation.error(text))
        }
        (Algorithm::Hmac(_), Some(bits)) => Ok(bits),
        (Algorithm::Hmac(hash), None) => Ok(hash.block_bytes() * 8),
        (other, _) => {
            let text = format!(
                "a key for {} cannot be derived; expected an algorithm of AES or HMAC",
                other.family().name()
            );
            Err(Kind::NotSupported.error(text))
        }
    }
}

fn prf(hash: Hash) -> pbkdf2::Algorithm {
    match hash {
        Hash::Sha1 => pbkdf2::PBKDF2_HMAC_SHA1,
        Hash::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
        Hash::Sha384 => pbkdf2::PBKDF2_HMAC_SHA384,
        Hash::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
    }
}
