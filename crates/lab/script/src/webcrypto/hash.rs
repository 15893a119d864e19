//! The digests of Web Cryptography.

use super::error::{Error, Kind};
use crate::digests::{ALGORITHMS, Algorithm, Running};

/// A digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    const ALL: [Self; 4] = [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512];

    /// The digest of this name, in any case.
    ///
    /// # Errors
    /// When there is no such digest.
    pub(crate) fn parse(name: &str) -> Result<Self, Error> {
        let found = Self::ALL
            .into_iter()
            .find(|hash| hash.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let text =
                format!("`{name}` is not a supported digest; expected SHA-1, SHA-256, SHA-384 or SHA-512");
            Kind::NotSupported.error(text)
        })
    }

    /// The name in W3C's specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA-1",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        }
    }

    /// The length of the blocks that it reads, in bytes: the length of a new HMAC key.
    pub(crate) fn block_bytes(self) -> usize {
        match self {
            Self::Sha1 | Self::Sha256 => 64,
            Self::Sha384 | Self::Sha512 => 128,
        }
    }

    /// The digest of `data`.
    pub(crate) fn digest(self, data: &[u8]) -> Vec<u8> {
        finished(self.algorithm().hash(), data)
    }

    /// The HMAC of `data` (RFC 2104).
    pub(crate) fn hmac(self, key: &[u8], data: &[u8]) -> Vec<u8> {
        finished(self.algorithm().hmac(key), data)
    }

    fn algorithm(self) -> &'static Algorithm {
        let name = match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        };
        let found = ALGORITHMS.iter().find(|algorithm| algorithm.name == name);
        found.expect("k6/crypto has all of them")
    }
}

fn finished(mut running: Running, data: &[u8]) -> Vec<u8> {
    running.update(data);
    running.finish()
}
