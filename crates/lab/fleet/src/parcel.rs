//! Contents that may be longer than a message of NATS: they travel in pieces, each with its number.

use std::io::{Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use serde::{Deserialize, Serialize};

use crate::key::digest;

/// The most bytes of an unpacked content. Reason: a run with a larger data set reads it from where it is.
pub const MAX_BYTES: u64 = 1 << 30;

/// What is sent ahead of a content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    /// The name under which pieces are asked for.
    pub(crate) name: String,
    /// How many pieces there are.
    pub(crate) n_pieces: usize,
    /// The SHA-256 of the packed content, in hexadecimal digits.
    pub(crate) digest: String,
}

/// A content in pieces.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) label: Label,
    packed: Vec<u8>,
    piece_bytes: usize,
}

impl Parcel {
    /// A content in pieces of at most `piece_bytes`.
    pub(crate) fn new(name: &str, content: &[u8], piece_bytes: usize) -> Self {
        let packed = pack(content);
        Self {
            label: Label {
                name: name.to_owned(),
                n_pieces: packed.len().div_ceil(piece_bytes),
                digest: digest(&packed),
            },
            packed,
            piece_bytes,
        }
    }

    /// The piece number `at`, from 0.
    pub(crate) fn piece(&self, at: usize) -> Option<&[u8]> {
        self.packed.chunks(self.piece_bytes).nth(at)
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.packed.chunks(self.piece_bytes)
    }
}

impl Label {
    /// The content, from all its pieces in order.
    ///
    /// # Errors
    /// The bytes are not those that were packed.
    pub(crate) fn open(&self, packed: &[u8]) -> Result<Vec<u8>, &'static str> {
        if digest(packed) != self.digest {
            return Err("its bytes are not those that were announced");
        }
        unpack(packed).ok_or("it cannot be unpacked")
    }
}

/// Deflates a content.
pub(crate) fn pack(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(content).and_then(|()| encoder.finish());
    packed.expect("memory takes all that is written")
}

/// The content of packed bytes. `None` if they are damaged or the content is too long.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let n_read = ZlibDecoder::new(packed)
        .take(MAX_BYTES + 1)
        .read_to_end(&mut content)
        .ok()?;
    (n_read as u64 <= MAX_BYTES).then_some(content)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_the_whole(content in prop::collection::vec(any::<u8>(), 0..5_000), piece_bytes in 1_usize..700) {
            let parcel = Parcel::new("package", &content, piece_bytes);
            prop_assert!(parcel.pieces().all(|piece| piece.len() <= piece_bytes));
            let pieces = (0..parcel.label.n_pieces).map(|at| parcel.piece(at).expect("it is there"));
            let packed: Vec<u8> = pieces.flatten().copied().collect();
            prop_assert_eq!(parcel.piece(parcel.label.n_pieces), None);
            prop_assert_eq!(parcel.label.open(&packed), Ok(content));
        }

        #[test]
        fn a_changed_byte_is_noticed(content in prop::collection::vec(any::<u8>(), 1..500), at in any::<prop::sample::Index>()) {
            let parcel = Parcel::new("package", &content, 100);
            let mut packed: Vec<u8> = parcel.pieces().flatten().copied().collect();
            let at = at.index(packed.len());
            packed[at] ^= 1;
            prop_assert!(parcel.label.open(&packed).is_err());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _any_content = unpack(&bytes);
        }
    }
}
