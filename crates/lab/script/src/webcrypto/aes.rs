//! AES in the modes of Web Cryptography (NIST SP 800-38A and 800-38D).

use cbc::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt as _, BlockModeEncrypt as _, BlockSizeUser,
    KeyInit, KeyIvInit as _, StreamCipher as _, block_padding::Pkcs7, consts::U16,
};

use super::{
    block::{BLOCK_BYTES, Direction, by_key, lengths},
    error::{Error, Kind},
    gcm::{Gcm, TAG_BYTES},
};

/// A mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Cbc,
    Ctr,
    Gcm,
}

impl Mode {
    /// The name in W3C's specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cbc => "AES-CBC",
            Self::Ctr => "AES-CTR",
            Self::Gcm => "AES-GCM",
        }
    }
}

/// CBC with PKCS#7 padding.
///
/// # Errors
/// When the vector has a wrong length, or the padding is not valid.
pub(super) fn cbc(direction: Direction, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Vec<u8>, Error> {
    let iv = block(iv, "the iv of AES-CBC")?;
    match direction {
        Direction::Encrypt => by_key!(key, encrypt_cbc(&iv, data)),
        Direction::Decrypt => by_key!(key, decrypt_cbc(&iv, data)),
    }
}

fn encrypt_cbc<C>(key: &[u8], iv: &[u8; BLOCK_BYTES], data: &[u8]) -> Result<Vec<u8>, Error>
where
    C: BlockCipherEncrypt + KeyInit + BlockSizeUser<BlockSize = U16>,
{
    let mut buffer = vec![0; data.len() + BLOCK_BYTES];
    let encryptor = cbc::Encryptor::<C>::new_from_slices(key, iv).map_err(|_| lengths())?;
    let encrypted = encryptor.encrypt_padded_b2b::<Pkcs7>(data, &mut buffer);
    let n_bytes = encrypted.map_err(|_| lengths())?.len();
    buffer.truncate(n_bytes);
    Ok(buffer)
}

fn decrypt_cbc<C>(key: &[u8], iv: &[u8; BLOCK_BYTES], data: &[u8]) -> Result<Vec<u8>, Error>
where
    C: BlockCipherDecrypt + KeyInit + BlockSizeUser<BlockSize = U16>,
{
    let mut buffer = vec![0; data.len()];
    let decryptor = cbc::Decryptor::<C>::new_from_slices(key, iv).map_err(|_| lengths())?;
    let decrypted = decryptor.decrypt_padded_b2b::<Pkcs7>(data, &mut buffer);
    let n_bytes = decrypted
        .map_err(|_| {
            Kind::Operation.error("cannot decrypt: wrong key, wrong iv, or the data are not from AES-CBC")
        })?
        .len();
    buffer.truncate(n_bytes);
    Ok(buffer)
}

/// CTR, in both directions. The last `bits` of the counter count and wrap; the others stay.
///
/// # Errors
/// When the counter has a wrong length, or cannot count all blocks.
pub(super) fn ctr(key: &[u8], counter: &[u8], bits: u32, data: &[u8]) -> Result<Vec<u8>, Error> {
    let counter = u128::from_be_bytes(block(counter, "the counter of AES-CTR")?);
    if !(1..=128).contains(&bits) {
        let text = format!("the length of AES-CTR is {bits}; expected the 1 to 128 bits that count");
        return Err(Kind::Operation.error(text));
    }
    let counting = u128::MAX >> (128 - bits);
    let n_blocks = data.len().div_ceil(BLOCK_BYTES) as u128;
    if n_blocks.saturating_sub(1) > counting {
        let text = format!("the data have more blocks than a counter of {bits} bits can count");
        return Err(Kind::Operation.error(text));
    }
    // How many blocks come before the counting bits are all zero again.
    let before = (counting - (counter & counting)).saturating_add(1);
    let split = usize::try_from(before)
        .unwrap_or(usize::MAX)
        .saturating_mul(BLOCK_BYTES)
        .min(data.len());
    let mut out = data.to_vec();
    let (first, rest) = out.split_at_mut(split);
    by_key!(key, xor_keystream(counter, first))?;
    by_key!(key, xor_keystream(counter & !counting, rest))?;
    Ok(out)
}

fn xor_keystream<C>(key: &[u8], counter: u128, data: &mut [u8]) -> Result<(), Error>
where
    C: BlockCipherEncrypt + KeyInit + BlockSizeUser<BlockSize = U16>,
{
    let stream = ctr::Ctr128BE::<C>::new_from_slices(key, &counter.to_be_bytes());
    stream.map_err(|_| lengths())?.apply_keystream(data);
    Ok(())
}

/// GCM; the ciphertext ends with the tag.
///
/// # Errors
/// When the vector or the tag has an unsupported length, or the data are not authentic.
pub(super) fn gcm(
    direction: Direction,
    key: &[u8],
    iv: &[u8],
    additional: &[u8],
    tag_bits: u32,
    data: &[u8],
) -> Result<Vec<u8>, Error> {
    if iv.len() != 12 {
        let text = format!(
            "the iv of AES-GCM has {} bytes; only 12 are supported, as in k6",
            iv.len()
        );
        return Err(Kind::NotSupported.error(text));
    }
    if !matches!(tag_bits, 96 | 104 | 112 | 120 | 128) {
        let text = format!("the tagLength of AES-GCM is {tag_bits}; expected 96, 104, 112, 120 or 128 bits");
        return Err(Kind::Operation.error(text));
    }
    let tag_bytes = tag_bits as usize / 8;
    match direction {
        Direction::Encrypt => {
            let mut out = data.to_vec();
            let tag = by_key!(key, whole_gcm(direction, iv, additional, &mut out))?;
            out.extend_from_slice(&tag[..tag_bytes]);
            Ok(out)
        }
        Direction::Decrypt => {
            let n_bytes = data.len().checked_sub(tag_bytes);
            let n_bytes =
                n_bytes.ok_or_else(|| Kind::Operation.error("the data are shorter than their tag"))?;
            let (data, expected) = data.split_at(n_bytes);
            let mut out = data.to_vec();
            let tag = by_key!(key, whole_gcm(direction, iv, additional, &mut out))?;
            if tag[..tag_bytes] != *expected {
                let text = "cannot decrypt: wrong key, iv or additionalData, or the data were changed";
                return Err(Kind::Operation.error(text));
            }
            Ok(out)
        }
    }
}

/// Encrypts or decrypts in place and gives the whole tag.
fn whole_gcm<C>(
    key: &[u8],
    direction: Direction,
    iv: &[u8],
    additional: &[u8],
    data: &mut [u8],
) -> Result<[u8; TAG_BYTES], Error>
where
    C: BlockCipherEncrypt + KeyInit + BlockSizeUser<BlockSize = U16> + 'static,
{
    let mut gcm = Gcm::new::<C>(key, direction, iv)?;
    gcm.add(additional);
    gcm.update(data)?;
    Ok(gcm.tag())
}

fn block(bytes: &[u8], what: &str) -> Result<[u8; BLOCK_BYTES], Error> {
    bytes.try_into().map_err(|_| {
        let text = format!("{what} has {} bytes; expected {BLOCK_BYTES}", bytes.len());
        Kind::Operation.error(text)
    })
}
