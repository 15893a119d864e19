//! What all modes of AES have in common: blocks, directions, and keys of three lengths.

use super::error::{Error, Kind};

/// The length of a block, an initialization vector of CBC, and a counter, in bytes.
pub(super) const BLOCK_BYTES: usize = 16;

/// Changes bytes in place; those of a mode with blocks are whole blocks.
pub(super) type Step = Box<dyn FnMut(&mut [u8])>;

/// The direction of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

/// Calls a function that is generic over the cipher, by the length of a key.
macro_rules! by_key {
    ($key:expr, $function:ident($($argument:expr),*)) => {
        match $key.len() {
            16 => $function::<::aes::Aes128>($key, $($argument),*),
            24 => $function::<::aes::Aes192>($key, $($argument),*),
            32 => $function::<::aes::Aes256>($key, $($argument),*),
            n => Err($crate::webcrypto::block::wrong_key(n)),
        }
    };
}

pub(super) use by_key;

/// The error for a key of so many bytes.
pub(super) fn wrong_key(n_bytes: usize) -> Error {
    Kind::Operation.error(format!("an AES key has 16, 24 or 32 bytes, not {n_bytes}"))
}

/// The error for lengths that a library refuses.
pub(super) fn lengths() -> Error {
    Kind::Operation.error("the key or the iv has a wrong length")
}
