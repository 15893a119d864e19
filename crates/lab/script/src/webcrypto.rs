//! Web Cryptography (W3C) without a script engine: keys, their formats, and the operations of `crypto.subtle`. Node's
//! `crypto` shares the keys and the algorithms; its own are [`Material`] without an algorithm, and [`Pieces`].
//!
//! The algorithms are RustCrypto's (docs/decisions/0003-libraries.md). Where the specification and k6 differ, this
//! follows the specification, and docs/reference/k6-compat.md names the difference.

mod aes;
mod algorithm;
mod bare;
mod block;
mod cipher;
mod derivation;
mod document;
mod ec;
mod error;
mod export;
mod gcm;
mod generation;
mod hash;
mod import;
mod jwk;
mod key;
mod pem;
mod pieces;
mod rsa;
mod signature;
mod usage;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    aes::Mode,
    algorithm::{Algorithm, Family},
    bare::Manner,
    cipher::Cipher,
    derivation::{Derivation, key_bits},
    document::{Form, Unreadable},
    ec::Curve,
    error::{Error, Kind},
    export::{Exported, export},
    generation::{Generated, Generation},
    hash::Hash,
    import::{Format, KeyData, import},
    jwk::Jwk,
    key::{Key, KeyType, Material},
    pieces::{Pieces, WrongEnd},
    rsa::{Envelope, Padding},
    signature::Scheme,
    usage::{Usage, Usages},
};
