//! Web Cryptography (W3C) without a script engine: keys, their formats, and the operations of `crypto.subtle`.
//!
//! The algorithms are RustCrypto's (docs/decisions/0003-libraries.md). Where the specification and k6 differ, this
//! follows the specification, and docs/reference/k6-compat.md names the difference.

mod aes;
mod algorithm;
mod cipher;
mod derivation;
mod ec;
mod error;
mod export;
mod generation;
mod hash;
mod import;
mod jwk;
mod key;
mod rsa;
mod signature;
mod usage;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    aes::Mode,
    algorithm::{Algorithm, Family},
    cipher::Cipher,
    derivation::{Derivation, key_bits},
    ec::Curve,
    error::{Error, Kind},
    export::{Exported, export},
    generation::{Generated, Generation},
    hash::Hash,
    import::{Format, KeyData, import},
    jwk::Jwk,
    key::Key,
    signature::Scheme,
    usage::{Usage, Usages},
};
