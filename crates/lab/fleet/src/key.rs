//! The key that a fleet shares: agents run only packages that are signed with it.

use std::fmt::{self, Write};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The shortest key, in bytes. Reason: a word can be guessed from one signature.
const MIN_BYTES: usize = 16;

/// The key of a fleet. Its `Debug` form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct FleetKey(Box<[u8]>);

/// A key that is too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the key of a fleet has {0} bytes; expected at least {MIN_BYTES}, for example from: openssl rand -hex 32"
)]
pub struct KeyError(usize);

impl FleetKey {
    /// The key with these bytes; white space around it is none of it.
    ///
    /// # Errors
    /// It has fewer than 16 bytes.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let key = text.trim().as_bytes();
        if key.len() < MIN_BYTES {
            return Err(KeyError(key.len()));
        }
        Ok(Self(key.into()))
    }

    /// The signature of a package for one agent, which has named `nonce`, in hexadecimal digits. A signature is of no use for
    /// another run or another agent, whose nonces differ.
    pub(crate) fn sign(&self, nonce: &str, digest: &str) -> String {
        hex(&self.mac(nonce, digest).finalize().into_bytes())
    }

    /// Whether `signature` is of this package and nonce. Takes as long for a wrong one as for the right one.
    pub(crate) fn verifies(&self, signature: &str, nonce: &str, digest: &str) -> bool {
        bytes_of(signature).is_some_and(|bytes| self.mac(nonce, digest).verify_slice(&bytes).is_ok())
    }

    fn mac(&self, nonce: &str, digest: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(nonce.as_bytes());
        mac.update(b"\n");
        mac.update(digest.as_bytes());
        mac
    }
}

/// The SHA-256 of `bytes` in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}

impl fmt::Debug for FleetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetKey(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_key_one_package_and_one_nonce() {
        let [one, other] =
            ["0123456789abcdef", "0123456789abcdeg"].map(|key| FleetKey::new(key).expect("long"));
        let digest = digest(b"package");
        let signature = one.sign("n1", &digest);
        assert!(one.verifies(&signature, "n1", &digest));
        for (key, nonce, digest, signature) in [
            (&other, "n1", digest.as_str(), signature.as_str()),
            (&one, "n2", &digest, &signature),
            (&one, "n1", "00", &signature),
            (&one, "n1", &digest, ""),
            (&one, "n1", &digest, "zz"),
            (&one, "n1", &digest, &signature[2..]),
        ] {
            assert!(
                !key.verifies(signature, nonce, digest),
                "{nonce} {digest} {signature}"
            );
        }
    }

    #[test]
    fn short_keys_are_refused_and_no_key_is_shown() {
        assert_eq!(FleetKey::new(" secret \n"), Err(KeyError(6)));
        let key = FleetKey::new("0123456789abcdef\n").expect("long");
        assert_eq!((format!("{key:?}").as_str(), key.0.len()), ("FleetKey(***)", 16));
    }

    #[test]
    fn digests_are_known() {
        assert_eq!(
            digest(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
