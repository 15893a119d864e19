//! RSA (RFC 8017): signatures with PKCS#1 v1.5 and PSS, encryption with OAEP.

use ::rsa::{
    BoxedUint, Oaep, Pkcs1v15Encrypt, Pkcs1v15Sign, PrivateKey, Pss, PublicKey,
    pkcs1::{
        DecodeRsaPrivateKey as _, DecodeRsaPublicKey as _, EncodeRsaPrivateKey as _, EncodeRsaPublicKey as _,
    },
    pkcs8::{DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _},
    traits::{PrivateKeyParts as _, PublicKeyParts as _},
};
use getrandom::SysRng;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::{
    error::{Error, Kind},
    hash::Hash,
};

/// The longest modulus of a new key, in bits. Reason: the time to find its primes grows with the fourth power, and takes
/// seconds here.
const MAX_NEW_BITS: usize = 4096;

/// The shortest modulus, in bits.
const MIN_BITS: usize = 1024;

/// A private key.
#[derive(Clone)]
pub(crate) struct Private(PrivateKey);

/// A public key.
#[derive(Clone)]
pub(crate) struct Public(PublicKey);

/// The padding of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Padding {
    /// PKCS#1 v1.5.
    Pkcs1,
    /// PSS with a salt of so many bytes.
    Pss(usize),
    /// PSS with the longest salt for a new signature, and with any salt in one that is verified.
    PssOfAnySalt,
}

/// The padding of encrypted data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Envelope<'a> {
    /// PKCS#1 v1.5.
    Pkcs1,
    /// OAEP with this digest and label.
    Oaep(Hash, &'a [u8]),
}

/// The numbers of a private key, each big-endian without leading zeros, in the order of a JWK.
pub(super) struct Numbers {
    pub(super) d: Vec<u8>,
    pub(super) p: Vec<u8>,
    pub(super) q: Vec<u8>,
    pub(super) dp: Vec<u8>,
    pub(super) dq: Vec<u8>,
    pub(super) qi: Vec<u8>,
}

/// Evaluates an expression with the type of a digest.
macro_rules! with_digest {
    ($hash:expr, $digest:ident => $body:expr) => {
        match $hash {
            Hash::Sha1 => {
                type $digest = Sha1;
                $body
            }
            Hash::Sha256 => {
                type $digest = Sha256;
                $body
            }
            Hash::Sha384 => {
                type $digest = Sha384;
                $body
            }
            Hash::Sha512 => {
                type $digest = Sha512;
                $body
            }
        }
    };
}

impl Private {
    /// A new key.
    ///
    /// # Errors
    /// When the modulus is too short or too long, or there is no key with this exponent.
    pub(super) fn generate(bits: usize, exponent: &[u8]) -> Result<Self, Error> {
        if !(MIN_BITS..=MAX_NEW_BITS).contains(&bits) {
            let text = format!("modulusLength is {bits}; expected {MIN_BITS} to {MAX_NEW_BITS} bits");
            return Err(Kind::Operation.error(text));
        }
        let is_odd = exponent.last().is_some_and(|last| last % 2 == 1);
        let exponent = number(exponent);
        // An even exponent has no inverse, so the search for primes would not end.
        if !is_odd || exponent.bit_width() < 2 || exponent.bit_width() > 33 {
            let text = "publicExponent must be an odd number of 3 to 2^33 - 1, for example new Uint8Array([1, 0, 1])";
            return Err(Kind::Operation.error(text));
        }
        let key = PrivateKey::new_with_exp(&mut SysRng, bits, exponent);
        key.map(Self)
            .map_err(|error| Kind::Operation.error(format!("cannot make an RSA key: {error}")))
    }

    /// The key of a PKCS#8 document.
    ///
    /// # Errors
    /// When it is malformed, or its numbers do not belong together.
    pub(super) fn from_pkcs8(der: &[u8]) -> Result<Self, Error> {
        let key = PrivateKey::from_pkcs8_der(der);
        key.map(Self)
            .map_err(|error| malformed("an RSA private key", &error.to_string()))
    }

    /// The key of a PKCS#1 document.
    ///
    /// # Errors
    /// When it is malformed, or its numbers do not belong together.
    pub(super) fn from_pkcs1(der: &[u8]) -> Result<Self, Error> {
        let key = PrivateKey::from_pkcs1_der(der);
        key.map(Self)
            .map_err(|error| malformed("an RSA private key", &error.to_string()))
    }

    /// The key of these numbers.
    ///
    /// # Errors
    /// When they do not belong together.
    pub(super) fn from_numbers(n: &[u8], e: &[u8], d: &[u8], p: &[u8], q: &[u8]) -> Result<Self, Error> {
        let primes = vec![number(p), number(q)];
        let key = PrivateKey::from_components(number(n), number(e), number(d), primes);
        key.map(Self)
            .map_err(|error| malformed("an RSA private key", &error.to_string()))
    }

    /// The key as PKCS#8.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(super) fn to_pkcs8(&self) -> Result<Vec<u8>, Error> {
        let der = self.0.to_pkcs8_der();
        der.map(|der| der.as_bytes().to_vec())
            .map_err(|error| Kind::Operation.error(format!("the key has no PKCS#8 form: {error}")))
    }

    /// The key as PKCS#1.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(super) fn to_pkcs1(&self) -> Result<Vec<u8>, Error> {
        let der = self.0.to_pkcs1_der();
        der.map(|der| der.as_bytes().to_vec())
            .map_err(|error| Kind::Operation.error(format!("the key has no PKCS#1 form: {error}")))
    }

    /// The numbers of the key; `None` for a key without two primes, which cannot be made here.
    pub(super) fn numbers(&self) -> Option<Numbers> {
        let [p, q] = self.0.primes() else { return None };
        Some(Numbers {
            d: bytes(self.0.d()),
            p: bytes(p),
            q: bytes(q),
            dp: bytes(self.0.dp()?),
            dq: bytes(self.0.dq()?),
            qi: bytes(&self.0.crt_coefficient()?),
        })
    }

    /// The public key.
    pub(super) fn public(&self) -> Public {
        Public(self.0.to_public_key())
    }

    /// The signature of `data`.
    ///
    /// # Errors
    /// When the modulus is too short for the padding.
    pub(super) fn sign(&self, padding: Padding, hash: Hash, data: &[u8]) -> Result<Vec<u8>, Error> {
        let digest = hash.digest(data);
        let longest = longest_salt(&self.0, digest.len());
        let salt = match padding {
            Padding::Pkcs1 => 0,
            Padding::Pss(salt) => salt,
            Padding::PssOfAnySalt => longest.unwrap_or_default(),
        };
        // A script says how long the salt is, and there must be memory for it.
        if padding != Padding::Pkcs1 && longest.is_none_or(|longest| salt > longest) {
            let text = format!("cannot sign: the key is too short for a salt of {salt} bytes");
            return Err(Kind::Operation.error(text));
        }
        let signature = with_digest!(hash, D => match padding {
            Padding::Pkcs1 => self.0.sign(Pkcs1v15Sign::new::<D>(), &digest),
            _ => self.0.sign_with_rng(&mut SysRng, Pss::<D>::new_with_salt(salt), &digest),
        });
        signature.map_err(|error| Kind::Operation.error(format!("cannot sign: {error}")))
    }

    /// Decrypts what was encrypted for the owner of the key.
    ///
    /// # Errors
    /// When it was not, or with another padding, label or digest.
    pub(super) fn decrypt(&self, envelope: Envelope<'_>, data: &[u8]) -> Result<Vec<u8>, Error> {
        let plain = match envelope {
            Envelope::Pkcs1 => self.0.decrypt(Pkcs1v15Encrypt, data),
            Envelope::Oaep(hash, label) => {
                with_digest!(hash, D => self.0.decrypt(Oaep::<D>::new_with_label(label), data))
            }
        };
        plain.map_err(|_| {
            let text = "cannot decrypt: wrong key, padding, digest or label, or the data are not from RSA";
            Kind::Operation.error(text)
        })
    }
}

impl Public {
    /// The key of a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// When it is malformed.
    pub(super) fn from_spki(der: &[u8]) -> Result<Self, Error> {
        let key = PublicKey::from_public_key_der(der);
        key.map(Self)
            .map_err(|error| malformed("an RSA public key", &error.to_string()))
    }

    /// The key of a PKCS#1 document.
    ///
    /// # Errors
    /// When it is malformed.
    pub(super) fn from_pkcs1(der: &[u8]) -> Result<Self, Error> {
        let key = PublicKey::from_pkcs1_der(der);
        key.map(Self)
            .map_err(|error| malformed("an RSA public key", &error.to_string()))
    }

    /// The key of these numbers.
    ///
    /// # Errors
    /// When the modulus or the exponent is too small or too large.
    pub(super) fn from_numbers(n: &[u8], e: &[u8]) -> Result<Self, Error> {
        let key = PublicKey::new(number(n), number(e));
        key.map(Self)
            .map_err(|error| malformed("an RSA public key", &error.to_string()))
    }

    /// The key as a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(super) fn to_spki(&self) -> Result<Vec<u8>, Error> {
        let der = self.0.to_public_key_der();
        der.map(|der| der.as_bytes().to_vec())
            .map_err(|error| Kind::Operation.error(format!("the key has no SubjectPublicKeyInfo: {error}")))
    }

    /// The key as PKCS#1.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(super) fn to_pkcs1(&self) -> Result<Vec<u8>, Error> {
        let der = self.0.to_pkcs1_der();
        der.map(|der| der.as_bytes().to_vec())
            .map_err(|error| Kind::Operation.error(format!("the key has no PKCS#1 form: {error}")))
    }

    /// The modulus, big-endian without leading zeros.
    pub(super) fn modulus(&self) -> Vec<u8> {
        bytes(self.0.n())
    }

    /// The public exponent, big-endian without leading zeros.
    pub(super) fn exponent(&self) -> Vec<u8> {
        bytes(self.0.e())
    }

    /// Whether `signature` is one of the owner of the key for `data`.
    pub(super) fn verify(&self, padding: Padding, hash: Hash, data: &[u8], signature: &[u8]) -> bool {
        let digest = hash.digest(data);
        let verified = with_digest!(hash, D => match padding {
            Padding::Pkcs1 => self.0.verify(Pkcs1v15Sign::new::<D>(), &digest, signature),
            Padding::Pss(salt) => self.0.verify(Pss::<D>::new_with_salt(salt), &digest, signature),
            Padding::PssOfAnySalt => {
                let scheme = Pss::<D> { salt_len: None, ..Pss::new() };
                self.0.verify(scheme, &digest, signature)
            }
        });
        verified.is_ok()
    }

    /// Encrypts for the owner of the key.
    ///
    /// # Errors
    /// When the data are longer than the modulus has room for.
    pub(super) fn encrypt(&self, envelope: Envelope<'_>, data: &[u8]) -> Result<Vec<u8>, Error> {
        let encrypted = match envelope {
            Envelope::Pkcs1 => self.0.encrypt(&mut SysRng, Pkcs1v15Encrypt, data),
            Envelope::Oaep(hash, label) => {
                with_digest!(hash, D => self.0.encrypt(&mut SysRng, Oaep::<D>::new_with_label(label), data))
            }
        };
        encrypted.map_err(|error| Kind::Operation.error(format!("cannot encrypt: {error}")))
    }
}

/// The longest salt of PSS with a digest of so many bytes (RFC 8017 §9.1.1); `None` if the modulus is too short for any.
fn longest_salt(key: &PrivateKey, n_digest_bytes: usize) -> Option<usize> {
    let n_bits = (key.n().bit_width() as usize).checked_sub(1)?;
    n_bits.div_ceil(8).checked_sub(n_digest_bytes + 2)
}

fn number(bytes: &[u8]) -> BoxedUint {
    BoxedUint::from_be_slice_vartime(bytes)
}

fn bytes(number: &BoxedUint) -> Vec<u8> {
    number.to_be_bytes_trimmed_vartime().into_vec()
}

fn malformed(what: &str, why: &str) -> Error {
    Kind::Data.error(format!("the data are not {what}: {why}"))
}
