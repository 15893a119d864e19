//! Galois/Counter Mode over data that come in pieces (NIST SP 800-38D §7), made of the libraries' counters and GHASH. The
//! library for the whole mode wants all data at once.

use cbc::cipher::{
    BlockCipherEncrypt, BlockSizeUser, KeyInit, KeyIvInit as _, StreamCipher as _, array::Array, consts::U16,
};
use ghash::{GHash, universal_hash::UniversalHash as _};

use super::{
    block::{BLOCK_BYTES, Direction, Step, lengths},
    error::{Error, Kind},
};

/// The length of a whole tag, in bytes.
pub(super) const TAG_BYTES: usize = 16;

/// The most data under one initialization vector, in bytes (NIST SP 800-38D §5.2.1.1).
const MAX_BYTES: u64 = (1 << 36) - 32;

/// Encryption or decryption in progress.
pub(super) struct Gcm {
    direction: Direction,
    /// Encrypts and decrypts bytes in place.
    stream: Step,
    hash: GHash,
    /// The bytes of the last, incomplete block that is hashed.
    rest: Vec<u8>,
    /// The tag is the hash under this mask.
    mask: [u8; TAG_BYTES],
    n_additional: u64,
    n_bytes: u64,
}

impl Gcm {
    /// Begins with a key and an initialization vector of any length but 0.
    ///
    /// # Errors
    /// When the key does not fit the cipher, or the vector is empty.
    pub(super) fn new<C>(key: &[u8], direction: Direction, iv: &[u8]) -> Result<Self, Error>
    where
        C: BlockCipherEncrypt + KeyInit + BlockSizeUser<BlockSize = U16> + 'static,
    {
        if iv.is_empty() {
            return Err(lengths());
        }
        let cipher = C::new_from_slice(key).map_err(|_| lengths())?;
        let mut hash_key = Array::default();
        cipher.encrypt_block(&mut hash_key);
        let hash = GHash::new(&hash_key);
        let first = first_counter(&hash, iv);
        let mut counting = ctr::Ctr32BE::<C>::new_from_slices(key, &first).map_err(|_| lengths())?;
        let mut mask = [0; TAG_BYTES];
        counting.apply_keystream(&mut mask);
        Ok(Self {
            direction,
            stream: Box::new(move |data: &mut [u8]| counting.apply_keystream(data)),
            hash,
            rest: Vec::new(),
            mask,
            n_additional: 0,
            n_bytes: 0,
        })
    }

    /// Adds data that are authenticated and not encrypted. They come before all others.
    pub(super) fn add(&mut self, additional: &[u8]) {
        self.n_additional += additional.len() as u64;
        self.absorb(additional);
    }

    /// Encrypts or decrypts the next data in place.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn update(&mut self, data: &mut [u8]) -> Result<(), Error> {
        if self.n_bytes == 0 {
            self.pad();
        }
        self.n_bytes = self.n_bytes.saturating_add(data.len() as u64);
        if self.n_bytes > MAX_BYTES {
            return Err(Kind::Operation.error("the data are too long for AES-GCM"));
        }
        match self.direction {
            Direction::Encrypt => {
                (self.stream)(data);
                self.absorb(data);
            }
            Direction::Decrypt => {
                self.absorb(data);
                (self.stream)(data);
            }
        }
        Ok(())
    }

    /// The tag of everything.
    pub(super) fn tag(mut self) -> [u8; TAG_BYTES] {
        self.pad();
        let bits = (u128::from(self.n_additional * 8) << 64) | u128::from(self.n_bytes * 8);
        self.hash.update(&[Array::from(bits.to_be_bytes())]);
        let mut tag: [u8; TAG_BYTES] = self.hash.finalize().into();
        tag.iter_mut()
            .zip(self.mask)
            .for_each(|(byte, mask)| *byte ^= mask);
        tag
    }

    /// Hashes bytes, whole blocks at a time.
    fn absorb(&mut self, mut bytes: &[u8]) {
        if !self.rest.is_empty() {
            let n_missing = (BLOCK_BYTES - self.rest.len()).min(bytes.len());
            let (first, others) = bytes.split_at(n_missing);
            self.rest.extend_from_slice(first);
            bytes = others;
            if self.rest.len() < BLOCK_BYTES {
                return;
            }
            self.pad();
        }
        let (whole, rest) = bytes.split_at(bytes.len() / BLOCK_BYTES * BLOCK_BYTES);
        self.hash.update_padded(whole);
        self.rest.extend_from_slice(rest);
    }

    /// Hashes the last block, with zeros at its end.
    fn pad(&mut self) {
        self.hash.update_padded(&self.rest);
        self.rest.clear();
    }
}

/// The counter of the mask; those of the data follow it (NIST SP 800-38D §7.1, step 2).
fn first_counter(hash: &GHash, iv: &[u8]) -> [u8; BLOCK_BYTES] {
    /// The length of usual vectors, after which the counter stands.
    const USUAL_BYTES: usize = 12;
    if iv.len() == USUAL_BYTES {
        let mut counter = [0; BLOCK_BYTES];
        counter[..USUAL_BYTES].copy_from_slice(iv);
        counter[BLOCK_BYTES - 1] = 1;
        return counter;
    }
    let mut hash = hash.clone();
    hash.update_padded(iv);
    let bits = iv.len() as u128 * 8;
    hash.update(&[Array::from(bits.to_be_bytes())]);
    hash.finalize().into()
}
