//! Tokens that identify a client: JSON Web Tokens (RFC 7519) whose claim `ext` holds the identifiers
//! (docs/protocols/identification.md, Tokens).
//!
//! AnyCable's tokens are signed with a secret. Beyond AnyCable they may be signed with a private key whose public half
//! is in a [`KeySet`]. The token's algorithm decides which of the two applies. A key serves only the algorithms it was
//! made for, so a public key cannot be used as an HMAC secret.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Validation, errors::Error};
use serde::Deserialize;

mod key_set;
mod signature;

pub use key_set::{KeySet, KeySetError};

/// A secret for tokens signed with HS256, HS384 or HS512.
#[derive(Debug, Clone)]
pub struct Secret(DecodingKey);

impl Secret {
    /// Creates a secret from these bytes.
    pub fn new(secret: &str) -> Self {
        signature::install();
        Self(DecodingKey::from_secret(secret.as_bytes()))
    }
}

/// The keys that may have signed a token.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keys<'a> {
    /// For HS256, HS384 and HS512.
    pub secret: Option<&'a Secret>,
    /// For RS*, PS*, ES256, ES384 and EdDSA.
    pub set: Option<&'a KeySet>,
}

/// Why a token does not identify a client.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The token has expired.
    #[error("the token has expired")]
    Expired,
    /// The key is not in the set. A newer set may have it.
    #[error("the token is signed with an unknown key")]
    UnknownKey,
    /// Not a token, signed with a wrong key, or not valid yet.
    #[error("the token is not valid: {0}")]
    Invalid(String),
    /// A valid token without identifiers.
    #[error("the token has no identifiers: its claim `ext` must be a string of JSON, such as {{\"user\":7}}")]
    NoIdentifiers,
}

/// What a valid token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The identifiers of the client.
    pub identifiers: String,
    /// The time at which the token expires. `None`: never, or later than this type can hold.
    pub expires_at: Option<SystemTime>,
}

/// The claims that are used.
#[derive(Deserialize)]
struct Claims {
    ext: Option<serde_json::Value>,
    /// Seconds of Unix time, maybe with a fraction (RFC 7519 §2, `NumericDate`).
    exp: Option<f64>,
    nbf: Option<f64>,
}

impl Keys<'_> {
    /// What a token that is valid at `now` says.
    ///
    /// # Errors
    /// See [`TokenError`].
    pub fn verify(&self, token: &str, now: SystemTime) -> Result<Verified, TokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(invalid)?;
        // A token with a critical extension that is not understood must be refused (RFC 7515 §4.1.11). None is
        // understood here.
        if header.crit.is_some() {
            return Err(TokenError::Invalid("it has critical extensions".to_owned()));
        }
        let claims = match (header.alg.family(), self.secret, self.set) {
            (AlgorithmFamily::Hmac, Some(secret), _) => {
                claims(token, header.alg, &secret.0).map_err(invalid)?
            }
            (AlgorithmFamily::Rsa | AlgorithmFamily::Ec | AlgorithmFamily::Ed, _, Some(set)) => {
                claims_of_any(token, header.alg, header.kid.as_deref(), set)?
            }
            (..) => {
                let algorithm = header.alg;
                return Err(TokenError::Invalid(format!("there is no key for {algorithm:?}")));
            }
        };
        claims.verified(now)
    }
}

impl Claims {
    fn verified(self, now: SystemTime) -> Result<Verified, TokenError> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        if self.exp.is_some_and(|end| end <= now) {
            return Err(TokenError::Expired);
        }
        if self.nbf.is_some_and(|start| start > now) {
            return Err(TokenError::Invalid("it is not valid yet".to_owned()));
        }
        match self.ext {
            Some(serde_json::Value::String(identifiers)) => Ok(Verified {
                identifiers,
                expires_at: self
                    .exp
                    .and_then(|end| Duration::try_from_secs_f64(end).ok())
                    .and_then(|end| UNIX_EPOCH.checked_add(end)),
            }),
            _ => Err(TokenError::NoIdentifiers),
        }
    }
}

/// The claims of a token. With a key id, only the keys with that id are tried. Without one, all keys that fit are
/// tried, up to a limit: issuers with a single key omit the id.
fn claims_of_any(
    token: &str,
    algorithm: Algorithm,
    id: Option<&str>,
    set: &KeySet,
) -> Result<Claims, TokenError> {
    let mut result = Err(TokenError::UnknownKey);
    for key in set.candidates(algorithm, id) {
        match claims(token, algorithm, key) {
            Ok(claims) => return Ok(claims),
            Err(error) if id.is_some() => result = Err(invalid(error)),
            Err(_another_key_may_fit) => {}
        }
    }
    result
}

/// The claims, if the signature is right. The caller, which knows the time, checks the claims about time.
fn claims(token: &str, algorithm: Algorithm, key: &DecodingKey) -> Result<Claims, Error> {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    // The audience matters only to the application and its other services. AnyCable does not check it.
    validation.validate_aud = false;
    jsonwebtoken::decode(token, key, &validation).map(|token| token.claims)
}

#[expect(clippy::needless_pass_by_value, reason = "it is made for map_err")]
fn invalid(error: Error) -> TokenError {
    TokenError::Invalid(error.to_string())
}

#[cfg(test)]
mod tests;
