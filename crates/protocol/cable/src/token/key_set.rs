//! A set of public keys (JWK Set, RFC 7517), as identity providers publish them.

use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;

use super::signature;

/// The most keys in a set. A token without a key id is tried with each key that fits, and a check takes up to 0.3 ms.
const MAX_KEYS: usize = 32;

/// Public keys that verify tokens. Empty by default.
#[derive(Debug, Clone, Default)]
pub struct KeySet(Vec<Key>);

#[derive(Debug, Clone)]
struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// Why a text is not a set of keys.
#[derive(Debug, thiserror::Error)]
pub enum KeySetError {
    /// Not JSON, or not a key set.
    #[error("decode the key set as JSON with a list `keys`: {0}")]
    Json(#[from] serde_json::Error),
    /// The set has no key for the supported signature algorithms.
    #[error(
        "the set has no key to check tokens with: RSA of 2048 bits or more, EC on P-256 or P-384, or OKP on Ed25519"
    )]
    NoUsableKey,
    /// The set has too many keys.
    #[error("the set has {0} keys, more than {MAX_KEYS}")]
    TooManyKeys(usize),
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<serde_json::Value>,
}

impl KeySet {
    /// Parses a set. Keys that cannot verify tokens are skipped (RFC 7517 §5): those for encryption, of other types,
    /// and secrets, which do not belong in a public set.
    ///
    /// # Errors
    /// See [`KeySetError`].
    pub fn parse(json: &[u8]) -> Result<Self, KeySetError> {
        signature::install();
        let Document { keys } = serde_json::from_slice(json)?;
        if keys.len() > MAX_KEYS {
            return Err(KeySetError::TooManyKeys(keys.len()));
        }
        let usable: Vec<_> = keys.into_iter().filter_map(Key::from_json).collect();
        if usable.is_empty() {
            Err(KeySetError::NoUsableKey)
        } else {
            Ok(Self(usable))
        }
    }

    /// The number of usable keys.
    pub fn n_keys(&self) -> usize {
        self.0.len()
    }

    /// The keys that may have made a signature.
    pub(super) fn candidates(
        &self,
        algorithm: Algorithm,
        id: Option<&str>,
    ) -> impl Iterator<Item = &DecodingKey> {
        self.0
            .iter()
            .filter(move |key| id.is_none() || key.id.as_deref() == id)
            .filter(move |key| key.algorithms.contains(&algorithm))
            .map(|key| &key.key)
    }
}

impl Key {
    fn from_json(json: serde_json::Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(json).ok()?;
        let algorithms = algorithms(&jwk);
        if algorithms.is_empty() || !is_for_signatures(&jwk) {
            return None;
        }
        Some(Self {
            key: DecodingKey::from_jwk(&jwk).ok()?,
            id: jwk.common.key_id,
            algorithms,
        })
    }
}

fn is_for_signatures(jwk: &Jwk) -> bool {
    let is_meant_for_it = |purpose: &PublicKeyUse| *purpose == PublicKeyUse::Signature;
    let may_verify = |operations: &Vec<KeyOperations>| operations.contains(&KeyOperations::Verify);
    jwk.common.public_key_use.as_ref().is_none_or(is_meant_for_it)
        && jwk.common.key_operations.as_ref().is_none_or(may_verify)
}

/// The algorithms that the key's type allows, or only the one that the key names.
fn algorithms(jwk: &Jwk) -> Vec<Algorithm> {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    let by_type: &[_] = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => &[RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(point) => match point.curve {
            EllipticCurve::P256 => &[ES256],
            EllipticCurve::P384 => &[ES384],
            _ => &[],
        },
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => &[EdDSA],
        _ => &[],
    };
    let named = jwk.common.key_algorithm;
    let is_named = |algorithm: &&Algorithm| named.is_none_or(|named| named == (**algorithm).into());
    by_type.iter().filter(is_named).copied().collect()
}
