//! AES over data that come in pieces, as Node's ciphers take them.

use cbc::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt as _, BlockModeEncrypt as _, BlockSizeUser,
    KeyInit, KeyIvInit as _, StreamCipher as _, array::Array, consts::U16,
};

use super::{
    aes::Mode,
    block::{BLOCK_BYTES, Direction, Step, by_key, lengths},
    error::Error,
    gcm::{Gcm, TAG_BYTES},
};

/// Encryption or decryption in progress.
pub(crate) struct Pieces {
    direction: Direction,
    mode: Running,
    /// Data that do not fill a block, or the last block of a text that may end with padding.
    rest: Vec<u8>,
    pads: bool,
    tag: Option<Vec<u8>>,
}

enum Running {
    Cbc(Step),
    Ctr(Step),
    Gcm(Box<Gcm>),
    Ended,
}

/// Why the end of the data is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrongEnd {
    /// The last block is not whole.
    Length,
    /// The last block has no valid padding.
    Padding,
    /// The tag is missing, or another one.
    Tag,
}

impl Pieces {
    /// Begins. Padding is on for CBC.
    ///
    /// # Errors
    /// When the key or the initialization vector has a wrong length.
    pub(crate) fn new(encrypts: bool, mode: Mode, key: &[u8], iv: &[u8]) -> Result<Self, Error> {
        let direction = if encrypts {
            Direction::Encrypt
        } else {
            Direction::Decrypt
        };
        let mode = match mode {
            Mode::Cbc => Running::Cbc(by_key!(key, cbc(direction, iv))?),
            Mode::Ctr => Running::Ctr(by_key!(key, ctr(iv))?),
            Mode::Gcm => Running::Gcm(Box::new(by_key!(key, gcm(direction, iv))?)),
        };
        Ok(Self {
            direction,
            mode,
            rest: Vec::new(),
            pads: true,
            tag: None,
        })
    }

    /// Whether the last block gets padding, and loses it.
    pub(crate) fn set_padding(&mut self, pads: bool) {
        self.pads = pads;
    }

    /// Adds data that are authenticated and not encrypted, before all others. Modes without a tag ignore them.
    pub(crate) fn add(&mut self, additional: &[u8]) {
        if let Running::Gcm(gcm) = &mut self.mode {
            gcm.add(additional);
        }
    }

    /// Encrypts or decrypts the next data, as far as they fill blocks.
    ///
    /// # Errors
    /// When there are too many for the mode.
    pub(crate) fn update(&mut self, data: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = data.to_vec();
        match &mut self.mode {
            Running::Cbc(step) => {
                self.rest.append(&mut out);
                let keeps_last = self.direction == Direction::Decrypt && self.pads;
                let n_usable = self.rest.len() - usize::from(keeps_last && !self.rest.is_empty());
                let rest = self.rest.split_off(n_usable / BLOCK_BYTES * BLOCK_BYTES);
                out = std::mem::replace(&mut self.rest, rest);
                step(&mut out);
            }
            Running::Ctr(step) => step(&mut out),
            Running::Gcm(gcm) => gcm.update(&mut out)?,
            Running::Ended => out.clear(),
        }
        Ok(out)
    }

    /// The rest of the data. `tag` is the expected one, for decryption with GCM.
    ///
    /// # Errors
    /// When the data do not end as they must.
    pub(crate) fn finish(&mut self, expected: Option<&[u8]>) -> Result<Vec<u8>, WrongEnd> {
        match std::mem::replace(&mut self.mode, Running::Ended) {
            Running::Cbc(step) => self.last_block(step),
            Running::Ctr(_) | Running::Ended => Ok(Vec::new()),
            Running::Gcm(gcm) => {
                let tag = gcm.tag();
                let is_right = |expected: &[u8]| tag.get(..expected.len()) == Some(expected);
                if self.direction == Direction::Decrypt && !expected.is_some_and(is_right) {
                    return Err(WrongEnd::Tag);
                }
                self.tag = Some(tag.to_vec());
                Ok(Vec::new())
            }
        }
    }

    /// The first `n_bytes` of the tag; `None` before the end, and for modes without one.
    pub(crate) fn tag(&self, n_bytes: usize) -> Option<&[u8]> {
        self.tag.as_ref().map(|tag| &tag[..n_bytes.min(TAG_BYTES)])
    }

    fn last_block(&mut self, mut step: Step) -> Result<Vec<u8>, WrongEnd> {
        let mut block = std::mem::take(&mut self.rest);
        if self.direction == Direction::Encrypt && self.pads {
            let n_missing = BLOCK_BYTES - block.len() % BLOCK_BYTES;
            block.resize(block.len() + n_missing, n_missing as u8);
        }
        if block.is_empty() && !self.pads {
            return Ok(block);
        }
        if block.len() != BLOCK_BYTES {
            return Err(WrongEnd::Length);
        }
        step(&mut block);
        if self.direction == Direction::Decrypt && self.pads {
            let n_bytes = unpadded(&block).ok_or(WrongEnd::Padding)?;
            block.truncate(n_bytes);
        }
        Ok(block)
    }
}

/// The length of a block without its padding (PKCS#7).
fn unpadded(block: &[u8]) -> Option<usize> {
    let n_padding = usize::from(*block.last()?);
    let n_bytes = block.len().checked_sub(n_padding).filter(|_| n_padding > 0)?;
    let is_padding = block[n_bytes..]
        .iter()
        .all(|byte| usize::from(*byte) == n_padding);
    is_padding.then_some(n_bytes)
}

fn cbc<C>(key: &[u8], direction: Direction, iv: &[u8]) -> Result<Step, Error>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit + BlockSizeUser<BlockSize = U16> + 'static,
{
    Ok(match direction {
        Direction::Encrypt => {
            let mut cipher = cbc::Encryptor::<C>::new_from_slices(key, iv).map_err(|_| lengths())?;
            Box::new(move |data: &mut [u8]| cipher.encrypt_blocks(Array::slice_as_chunks_mut(data).0))
        }
        Direction::Decrypt => {
            let mut cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).map_err(|_| lengths())?;
            Box::new(move |data: &mut [u8]| cipher.decrypt_blocks(Array::slice_as_chunks_mut(data).0))
        }
    })
}

fn ctr<C>(key: &[u8], iv: &[u8]) -> Result<Step, Error>
where
    C: BlockCipherEncrypt + KeyInit + BlockSizeUser<BlockSize = U16> + 'static,
{
    let mut cipher = ctr::Ctr128BE::<C>::new_from_slices(key, iv).map_err(|_| lengths())?;
    Ok(Box::new(move |data: &mut [u8]| cipher.apply_keystream(data)))
}

fn gcm<C>(key: &[u8], direction: Direction, iv: &[u8]) -> Result<Gcm, Error>
where
    C: BlockCipherEncrypt + KeyInit + BlockSizeUser<BlockSize = U16> + 'static,
{
    Gcm::new::<C>(key, direction, iv)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encrypts in pieces of this length and decrypts in others; returns the encrypted text and the tag.
    fn there_and_back(mode: Mode, iv: &[u8], text: &[u8], n: usize) -> (Vec<u8>, Option<Vec<u8>>) {
        let key = [7; 24];
        let run = |encrypts: bool, data: &[u8], n: usize, tag: Option<&[u8]>| {
            let mut pieces = Pieces::new(encrypts, mode, &key, iv).unwrap();
            pieces.add(b"addi");
            pieces.add(b"tional, longer than a block");
            let mut out = Vec::new();
            for piece in data.chunks(n) {
                out.extend(pieces.update(piece).unwrap());
            }
            out.extend(pieces.finish(tag).unwrap());
            (out, pieces.tag(16).map(<[u8]>::to_vec))
        };
        let (encrypted, tag) = run(true, text, n, None);
        let (decrypted, _) = run(false, &encrypted, n + 3, tag.as_deref());
        assert_eq!(decrypted, text, "{mode:?} {n}");
        (encrypted, tag)
    }

    #[test]
    fn the_lengths_of_pieces_do_not_matter() {
        let text: Vec<u8> = (0..100).collect();
        for mode in [Mode::Cbc, Mode::Ctr, Mode::Gcm] {
            for length in [0, 1, 15, 16, 17, 32, 100] {
                let whole = there_and_back(mode, &[9; 16], &text[..length], 1000);
                for n in [1, 5, 16, 31] {
                    assert_eq!(there_and_back(mode, &[9; 16], &text[..length], n), whole);
                }
            }
        }
    }

    #[test]
    fn an_end_that_is_wrong_is_told() {
        let check = |mode: Mode, pads: bool, data: &[u8], tag: Option<&[u8]>, expected: WrongEnd| {
            let mut pieces = Pieces::new(false, mode, &[7; 16], &[9; 16]).unwrap();
            pieces.set_padding(pads);
            pieces.update(data).unwrap();
            assert_eq!(pieces.finish(tag), Err(expected));
            assert_eq!(pieces.finish(tag), Ok(Vec::new()));
        };
        check(Mode::Cbc, true, &[], None, WrongEnd::Length);
        check(Mode::Cbc, true, &[1; 17], None, WrongEnd::Length);
        check(Mode::Cbc, false, &[1; 17], None, WrongEnd::Length);
        check(Mode::Cbc, true, &[1; 32], None, WrongEnd::Padding);
        check(Mode::Gcm, true, &[1; 5], None, WrongEnd::Tag);
        check(Mode::Gcm, true, &[1; 5], Some(&[1; 16]), WrongEnd::Tag);
        check(Mode::Gcm, true, &[1; 5], Some(&[1; 99]), WrongEnd::Tag);
        for mode in [Mode::Cbc, Mode::Ctr] {
            assert!(Pieces::new(true, mode, &[0; 16], &[0; 12]).is_err());
            assert!(Pieces::new(true, mode, &[0; 17], &[0; 16]).is_err());
        }
        assert!(Pieces::new(true, Mode::Gcm, &[0; 16], &[]).is_err());
    }
}
