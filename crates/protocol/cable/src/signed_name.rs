//! Stream names that a backend has signed, so that a client can ask for a stream whose name it could not forge.
//!
//! A signed name is `base64(JSON(name))--hex(HMAC-SHA256(key, base64 part))`. Rails' message verifier writes strict
//! base64, AnyCable's Ruby gem the URL-safe alphabet. Both are accepted, with and without padding
//! (docs/protocols/identification.md, Signed stream names).

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use ring::hmac;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD_BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL_BASE64: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Verifies names that are signed with one key.
#[derive(Debug, Clone)]
pub struct Verifier(hmac::Key);

/// Why a signed name is rejected. The client cannot use these details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignedNameError {
    /// Not of the form `name--signature`.
    #[error("a signed name has the form `base64--hex`")]
    Malformed,
    /// Signed with another key, or changed since.
    #[error("the signature does not belong to the name")]
    WrongSignature,
    /// Signed, but not a name, for example a message with an expiry.
    #[error("the signed text is not the base64 of a JSON string")]
    NotAName,
}

impl Verifier {
    /// Creates a verifier for names signed with these bytes.
    pub fn new(key: &str) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()))
    }

    /// Returns the signed name. The signature is compared in constant time.
    ///
    /// # Errors
    /// See [`SignedNameError`].
    pub fn verify(&self, signed: &str) -> Result<String, SignedNameError> {
        // URL-safe base64 may contain `--`; hex digits may not.
        let (name, signature) = signed.rsplit_once("--").ok_or(SignedNameError::Malformed)?;
        let signature = hex(signature).ok_or(SignedNameError::Malformed)?;
        hmac::verify(&self.0, name.as_bytes(), &signature).map_err(|_| SignedNameError::WrongSignature)?;
        decode(name).ok_or(SignedNameError::NotAName)
    }
}

fn decode(name: &str) -> Option<String> {
    let is_standard = name.contains(['+', '/']);
    let base64 = if is_standard { STANDARD_BASE64 } else { URL_BASE64 };
    serde_json::from_slice(&base64.decode(name).ok()?).ok()
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = digits.as_bytes().as_chunks();
    let byte = |&[high, low]: &[u8; 2]| Some(nibble(high)? << 4 | nibble(low)?);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

#[cfg(test)]
mod tests;
