//! Operations with keys of pairs that have no algorithm of their own: a key of Node may do all that its numbers can.

use super::{
    ec::{self, Curve},
    error::{Error, Kind},
    hash::Hash,
    key::Material,
    rsa::{self, Envelope, Padding},
};

/// How a signature is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// The digest of the data.
    pub(crate) hash: Hash,
    /// The padding, for RSA.
    pub(crate) padding: Padding,
    /// Whether a signature of ECDSA is DER. Otherwise it is both numbers, one after the other.
    pub(crate) is_der: bool,
}

impl Material {
    /// A new RSA key.
    ///
    /// # Errors
    /// When the modulus is too short or too long, or there is no key with this exponent.
    pub(crate) fn generate_rsa(bits: usize, exponent: &[u8]) -> Result<Self, Error> {
        let key = rsa::Private::generate(bits, exponent)?;
        Ok(Self::RsaPrivate(Box::new(key)))
    }

    /// A new key of a curve.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn generate_ec(curve: Curve) -> Result<Self, Error> {
        ec::Private::generate(curve).map(Self::EcPrivate)
    }

    /// The public key of a private one, and of itself; `None` for a secret.
    pub(crate) fn public_half(&self) -> Option<Self> {
        match self {
            Self::Secret(_) => None,
            Self::EcPrivate(key) => Some(Self::EcPublic(key.public())),
            Self::RsaPrivate(key) => Some(Self::RsaPublic(Box::new(key.public()))),
            Self::EcPublic(_) | Self::RsaPublic(_) => Some(self.clone()),
        }
    }

    /// The signature of `data`.
    ///
    /// # Errors
    /// When the key is not private, or too short for the padding.
    pub(crate) fn sign(&self, manner: Manner, data: &[u8]) -> Result<Vec<u8>, Error> {
        let Manner { hash, padding, .. } = manner;
        match self {
            Self::RsaPrivate(key) => key.sign(padding, hash, data),
            Self::EcPrivate(key) => {
                let signature = key.sign(&hash.digest(data))?;
                if !manner.is_der {
                    return Ok(signature);
                }
                let der = key.curve().signature_to_der(&signature);
                der.ok_or_else(|| Kind::Operation.error("the signature has no DER form"))
            }
            _ => Err(Kind::InvalidAccess.error("only a private key can sign")),
        }
    }

    /// Whether `signature` is one of the key's owner for `data`. A private key verifies as its public one.
    pub(crate) fn verify(&self, manner: Manner, data: &[u8], signature: &[u8]) -> bool {
        match self.public_half() {
            Some(Self::RsaPublic(key)) => key.verify(manner.padding, manner.hash, data, signature),
            Some(Self::EcPublic(key)) => {
                let digest = manner.hash.digest(data);
                if !manner.is_der {
                    return key.verify(&digest, signature);
                }
                let both = key.curve().signature_from_der(signature);
                both.is_some_and(|signature| key.verify(&digest, &signature))
            }
            _ => false,
        }
    }

    /// Encrypts for the owner of an RSA key.
    ///
    /// # Errors
    /// When the key is of another kind, or the data are too long.
    pub(crate) fn encrypt(&self, envelope: Envelope<'_>, data: &[u8]) -> Result<Vec<u8>, Error> {
        match self.public_half() {
            Some(Self::RsaPublic(key)) => key.encrypt(envelope, data),
            _ => Err(Kind::InvalidAccess.error("only an RSA key can encrypt")),
        }
    }

    /// Decrypts what was encrypted for the owner of an RSA key.
    ///
    /// # Errors
    /// When the key is not a private RSA key, or the data are not for it.
    pub(crate) fn decrypt(&self, envelope: Envelope<'_>, data: &[u8]) -> Result<Vec<u8>, Error> {
        match self {
            Self::RsaPrivate(key) => key.decrypt(envelope, data),
            _ => Err(Kind::InvalidAccess.error("only a private RSA key can decrypt")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RSA: Manner = Manner {
        hash: Hash::Sha256,
        padding: Padding::Pkcs1,
        is_der: true,
    };

    #[test]
    fn a_signature_is_verified_in_its_own_manner_alone() {
        let manners = [
            RSA,
            Manner {
                padding: Padding::Pss(32),
                ..RSA
            },
            Manner {
                padding: Padding::PssOfAnySalt,
                ..RSA
            },
            Manner {
                hash: Hash::Sha1,
                ..RSA
            },
        ];
        let key = Material::generate_rsa(1024, &[1, 0, 1]).unwrap();
        for (one, manner) in manners.iter().enumerate() {
            let signature = key.sign(*manner, b"text").unwrap();
            for (other, by) in manners.iter().enumerate() {
                // Any salt includes one of 32 bytes; the longest one is longer.
                let is_right = one == other || (one, other) == (1, 2);
                assert_eq!(key.verify(*by, b"text", &signature), is_right, "{one} {other}");
            }
            assert!(!key.verify(*manner, b"test", &signature));
        }
        let too_long = Manner {
            padding: Padding::Pss(usize::MAX),
            ..RSA
        };
        assert!(key.sign(too_long, b"text").is_err());
        assert!(key.public_half().unwrap().sign(RSA, b"text").is_err());
    }

    #[test]
    fn signatures_of_curves_have_two_forms() {
        for curve in Curve::ALL {
            let key = Material::generate_ec(curve).unwrap();
            let fixed = Manner { is_der: false, ..RSA };
            let signatures = [RSA, fixed].map(|manner| key.sign(manner, b"text").unwrap());
            assert_eq!(signatures[1].len(), 2 * curve.n_bytes());
            let verified = |manner, index: usize| key.verify(manner, b"text", &signatures[index]);
            assert!(verified(RSA, 0) && verified(fixed, 1));
            assert!(!verified(RSA, 1) && !verified(fixed, 0));
        }
    }

    #[test]
    fn only_the_owner_decrypts() {
        let key = Material::generate_rsa(1024, &[1, 0, 1]).unwrap();
        let other = Material::generate_rsa(1024, &[1, 0, 1]).unwrap();
        for envelope in [Envelope::Pkcs1, Envelope::Oaep(Hash::Sha1, b"label")] {
            let encrypted = key.public_half().unwrap().encrypt(envelope, b"text").unwrap();
            assert_eq!(key.decrypt(envelope, &encrypted).unwrap(), b"text");
            // PKCS #1 without its padding becomes other bytes, not an error, so that the padding cannot be probed.
            let read = other.decrypt(envelope, &encrypted).ok();
            assert_ne!(read.as_deref(), Some(&b"text"[..]));
            assert!(key.encrypt(envelope, &[0; 200]).is_err());
        }
    }
}
