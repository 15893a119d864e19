//! The elliptic curves of Web Cryptography (NIST P-256, P-384 and P-521): ECDSA and ECDH.

use getrandom::SysRng;
use p256::{
    ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _},
    elliptic_curve::Generate as _,
    pkcs8::{DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _},
};

use super::error::{Error, Kind};

/// The first byte of a point with both coordinates (SEC 1 §2.3.3).
const UNCOMPRESSED: u8 = 4;

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    P256,
    P384,
    P521,
}

/// A private key.
#[derive(Clone)]
pub(crate) enum Private {
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    P521(p521::SecretKey),
}

/// A public key.
#[derive(Clone)]
pub(crate) enum Public {
    P256(p256::PublicKey),
    P384(p384::PublicKey),
    P521(p521::PublicKey),
}

/// A private key of one library.
trait Secret: Sized {
    /// ECDSA of a digest: both numbers, one after the other (IEEE P1363).
    fn sign(&self, digest: &[u8]) -> Option<Vec<u8>>;
    /// The key as PKCS#8.
    fn to_pkcs8(&self) -> Option<Vec<u8>>;
    /// The key as SEC 1.
    fn to_sec1(&self) -> Option<Vec<u8>>;
}

/// A public key of one library.
trait Point: Sized {
    /// Whether a signature of [`Secret::sign`] is of the key.
    fn verify(&self, digest: &[u8], signature: &[u8]) -> bool;
    /// The key as a SubjectPublicKeyInfo.
    fn to_spki(&self) -> Option<Vec<u8>>;
    /// A signature of [`Secret::sign`] as DER.
    fn signature_to_der(signature: &[u8]) -> Option<Vec<u8>>;
    /// A signature in DER as [`Secret::sign`] has it.
    fn signature_from_der(der: &[u8]) -> Option<Vec<u8>>;
}

/// Both traits for the crate of a curve.
macro_rules! implement {
    ($library:ident) => {
        impl Secret for $library::SecretKey {
            fn sign(&self, digest: &[u8]) -> Option<Vec<u8>> {
                let key = $library::ecdsa::SigningKey::from(self);
                let signature: $library::ecdsa::Signature = key.sign_prehash(digest).ok()?;
                Some(signature.to_bytes().to_vec())
            }

            fn to_pkcs8(&self) -> Option<Vec<u8>> {
                Some(self.to_pkcs8_der().ok()?.as_bytes().to_vec())
            }

            fn to_sec1(&self) -> Option<Vec<u8>> {
                Some(self.to_sec1_der().ok()?.to_vec())
            }
        }

        impl Point for $library::PublicKey {
            fn verify(&self, digest: &[u8], signature: &[u8]) -> bool {
                let key = $library::ecdsa::VerifyingKey::from(self);
                $library::ecdsa::Signature::from_slice(signature)
                    .is_ok_and(|signature| key.verify_prehash(digest, &signature).is_ok())
            }

            fn to_spki(&self) -> Option<Vec<u8>> {
                Some(self.to_public_key_der().ok()?.as_bytes().to_vec())
            }

            fn signature_to_der(signature: &[u8]) -> Option<Vec<u8>> {
                let signature = $library::ecdsa::Signature::from_slice(signature).ok()?;
                Some(signature.to_der().as_bytes().to_vec())
            }

            fn signature_from_der(der: &[u8]) -> Option<Vec<u8>> {
                let signature = $library::ecdsa::Signature::from_der(der).ok()?;
                Some(signature.to_bytes().to_vec())
            }
        }
    };
}

implement!(p256);
implement!(p384);
implement!(p521);

/// Evaluates an expression with the key of a library.
macro_rules! with_key {
    ($key:expr, $kind:ident, $inner:ident => $body:expr) => {
        match $key {
            $kind::P256($inner) => $body,
            $kind::P384($inner) => $body,
            $kind::P521($inner) => $body,
        }
    };
}

/// A key of the curve, made by an expression over its library.
macro_rules! on_curve {
    ($curve:expr, $kind:ident, $of:ident :: $make:ident ( $($argument:expr),* )) => {
        match $curve {
            Curve::P256 => p256::$of::$make($($argument),*).ok().map($kind::P256),
            Curve::P384 => p384::$of::$make($($argument),*).ok().map($kind::P384),
            Curve::P521 => p521::$of::$make($($argument),*).ok().map($kind::P521),
        }
    };
}

impl Curve {
    /// All curves.
    pub(crate) const ALL: [Self; 3] = [Self::P256, Self::P384, Self::P521];

    /// The curve of this name.
    ///
    /// # Errors
    /// When it is unknown.
    pub(crate) fn parse(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|curve| curve.name() == name);
        found.ok_or_else(|| {
            let text = format!("`{name}` is not a supported curve; expected P-256, P-384 or P-521");
            Kind::NotSupported.error(text)
        })
    }

    /// The name in W3C's specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// An ECDSA signature as DER (RFC 3279 §2.2.3); `None` if it is not one of the curve.
    pub(super) fn signature_to_der(self, signature: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::P256 => p256::PublicKey::signature_to_der(signature),
            Self::P384 => p384::PublicKey::signature_to_der(signature),
            Self::P521 => p521::PublicKey::signature_to_der(signature),
        }
    }

    /// Both numbers of an ECDSA signature in DER, one after the other; `None` if it is not one of the curve.
    pub(super) fn signature_from_der(self, der: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::P256 => p256::PublicKey::signature_from_der(der),
            Self::P384 => p384::PublicKey::signature_from_der(der),
            Self::P521 => p521::PublicKey::signature_from_der(der),
        }
    }

    /// The length of a coordinate, of a private number and of half a signature, in bytes.
    pub(crate) fn n_bytes(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }
}

impl Private {
    /// A new random key.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(super) fn generate(curve: Curve) -> Result<Self, Error> {
        let key = on_curve!(curve, Self, SecretKey::try_generate_from_rng(&mut SysRng));
        key.ok_or_else(|| Kind::Operation.error("the system has no random numbers"))
    }

    /// The key of a PKCS#8 document.
    ///
    /// # Errors
    /// When it is malformed or of another curve.
    pub(super) fn from_pkcs8(curve: Curve, der: &[u8]) -> Result<Self, Error> {
        let key = on_curve!(curve, Self, SecretKey::from_pkcs8_der(der));
        key.ok_or_else(|| malformed("a private key", curve))
    }

    /// The key of a SEC 1 document.
    ///
    /// # Errors
    /// When it is malformed or of another curve.
    pub(super) fn from_sec1(curve: Curve, der: &[u8]) -> Result<Self, Error> {
        let key = on_curve!(curve, Self, SecretKey::from_sec1_der(der));
        key.ok_or_else(|| malformed("a private key", curve))
    }

    /// The key with this private number.
    ///
    /// # Errors
    /// When the number is not between 0 and the order of the curve.
    pub(super) fn from_scalar(curve: Curve, scalar: &[u8]) -> Result<Self, Error> {
        let padded = left_padded(scalar, curve.n_bytes());
        let key = on_curve!(curve, Self, SecretKey::from_slice(&padded));
        key.ok_or_else(|| malformed("a private key", curve))
    }

    /// The key as PKCS#8.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(super) fn to_pkcs8(&self) -> Result<Vec<u8>, Error> {
        let der = with_key!(self, Self, key => Secret::to_pkcs8(key));
        der.ok_or_else(|| Kind::Operation.error("the key has no PKCS#8 form"))
    }

    /// The key as SEC 1.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(super) fn to_sec1(&self) -> Result<Vec<u8>, Error> {
        let der = with_key!(self, Self, key => Secret::to_sec1(key));
        der.ok_or_else(|| Kind::Operation.error("the key has no SEC 1 form"))
    }

    /// The private number, with leading zeros.
    pub(super) fn to_scalar(&self) -> Vec<u8> {
        with_key!(self, Self, key => key.to_bytes().to_vec())
    }

    /// The curve.
    pub(super) fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
            Self::P521(_) => Curve::P521,
        }
    }

    /// The public key.
    pub(super) fn public(&self) -> Public {
        match self {
            Self::P256(key) => Public::P256(key.public_key()),
            Self::P384(key) => Public::P384(key.public_key()),
            Self::P521(key) => Public::P521(key.public_key()),
        }
    }

    /// The ECDSA signature of a digest, with a nonce of RFC 6979: both numbers, one after the other.
    ///
    /// # Errors
    /// Never, for a digest; the library's interface allows for one.
    pub(super) fn sign(&self, digest: &[u8]) -> Result<Vec<u8>, Error> {
        let digest = long_enough(digest, self.curve());
        let signature = with_key!(self, Self, key => Secret::sign(key, &digest));
        signature.ok_or_else(|| Kind::Operation.error("the digest cannot be signed"))
    }

    /// The secret that both owners of two keys have in common; `None` for keys of two curves.
    pub(super) fn agree(&self, public: &Public) -> Option<Vec<u8>> {
        let bytes = match (self, public) {
            (Self::P256(key), Public::P256(public)) => key.diffie_hellman(public).raw_secret_bytes().to_vec(),
            (Self::P384(key), Public::P384(public)) => key.diffie_hellman(public).raw_secret_bytes().to_vec(),
            (Self::P521(key), Public::P521(public)) => key.diffie_hellman(public).raw_secret_bytes().to_vec(),
            _ => return None,
        };
        Some(bytes)
    }
}

impl Public {
    /// The key of a point (SEC 1).
    ///
    /// # Errors
    /// When the point is malformed or not on the curve.
    pub(super) fn from_point(curve: Curve, point: &[u8]) -> Result<Self, Error> {
        let key = on_curve!(curve, Self, PublicKey::from_sec1_bytes(point));
        key.ok_or_else(|| malformed("a public key", curve))
    }

    /// The key of these coordinates.
    ///
    /// # Errors
    /// When the point is not on the curve.
    pub(super) fn from_coordinates(curve: Curve, x: &[u8], y: &[u8]) -> Result<Self, Error> {
        let mut point = vec![UNCOMPRESSED];
        for coordinate in [x, y] {
            point.append(&mut left_padded(coordinate, curve.n_bytes()));
        }
        Self::from_point(curve, &point)
    }

    /// The key of a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// When it is malformed or of another curve.
    pub(super) fn from_spki(curve: Curve, der: &[u8]) -> Result<Self, Error> {
        let key = on_curve!(curve, Self, PublicKey::from_public_key_der(der));
        key.ok_or_else(|| malformed("a public key", curve))
    }

    /// The key as a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// Never, for a key that exists; the library's interface allows for one.
    pub(super) fn to_spki(&self) -> Result<Vec<u8>, Error> {
        let der = with_key!(self, Self, key => Point::to_spki(key));
        der.ok_or_else(|| Kind::Operation.error("the key has no SubjectPublicKeyInfo"))
    }

    /// The point with both coordinates.
    pub(super) fn to_point(&self) -> Vec<u8> {
        with_key!(self, Self, key => key.to_sec1_bytes().to_vec())
    }

    /// The curve.
    pub(super) fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
            Self::P521(_) => Curve::P521,
        }
    }

    /// Whether `signature` is an ECDSA signature of the digest by the owner of the key.
    pub(super) fn verify(&self, digest: &[u8], signature: &[u8]) -> bool {
        let digest = long_enough(digest, self.curve());
        with_key!(self, Self, key => Point::verify(key, &digest, signature))
    }
}

/// The digest with leading zeros, which do not change its number: the library refuses digests of less than half the
/// length of a private number.
fn long_enough(digest: &[u8], curve: Curve) -> Vec<u8> {
    left_padded(digest, curve.n_bytes().div_ceil(2))
}

fn left_padded(bytes: &[u8], n_bytes: usize) -> Vec<u8> {
    let mut padded = vec![0; n_bytes.saturating_sub(bytes.len())];
    padded.extend_from_slice(bytes);
    padded
}

fn malformed(what: &str, curve: Curve) -> Error {
    Kind::Data.error(format!("the data are not {what} of the curve {}", curve.name()))
}
