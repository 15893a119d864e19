//! The reach of references in compressed data (RFC 1951). The inflating library always keeps 32 KiB, and would not
//! notice a target that refers beyond its window.

/// The most symbols of one code (RFC 1951 §3.2.7: literals and lengths).
const MOST_SYMBOLS: usize = 288;
/// The longest code in bits.
const MOST_BITS: usize = 15;

/// The order of the lengths in the code for lengths (§3.2.7).
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Extra bits behind the symbols 257–285 (§3.2.5).
const LENGTH_BITS: [u32; 29] = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
];
/// The smallest distance of each symbol (§3.2.5).
const DISTANCES: [usize; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
    4097, 6145, 8193, 12_289, 16_385, 24_577,
];

/// The greatest distance in DEFLATE data, which ends with its last whole block; `None` if the data is not DEFLATE.
pub(super) fn reach(data: &[u8]) -> Option<usize> {
    let mut bits = Bits { data, at: 0 };
    let mut furthest = 0;
    // Fewer bits than a block's head are padding.
    while bits.n_left() >= 3 {
        let _is_final = bits.take(1)?;
        match bits.take(2)? {
            0 => {
                bits.at = bits.at.next_multiple_of(8);
                let n_bytes = bits.take(16)?;
                let _complement = bits.take(16)?;
                bits.at += n_bytes * 8;
            }
            1 => {
                let (literals, distances) = fixed();
                furthest = furthest.max(block(&mut bits, &literals, &distances)?);
            }
            2 => {
                let (literals, distances) = dynamic(&mut bits)?;
                furthest = furthest.max(block(&mut bits, &literals, &distances)?);
            }
            _ => return None,
        }
    }
    Some(furthest)
}

/// Bits from the lowest of each byte (§3.1.1).
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn n_left(&self) -> usize {
        (self.data.len() * 8).saturating_sub(self.at)
    }

    fn take(&mut self, n_bits: u32) -> Option<usize> {
        let mut value = 0;
        for bit in 0..n_bits {
            let byte = self.data.get(self.at / 8)?;
            value |= usize::from(byte >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        Some(value)
    }
}

/// A Huffman code: how many symbols have which length, and the symbols in the order of their codes.
struct Code {
    counts: [usize; MOST_BITS + 1],
    symbols: [usize; MOST_SYMBOLS],
}

impl Code {
    fn new(lengths: &[usize]) -> Self {
        let mut counts = [0; MOST_BITS + 1];
        for &length in lengths {
            counts[length] += 1;
        }
        counts[0] = 0;
        let mut places = [0; MOST_BITS + 2];
        for length in 1..=MOST_BITS {
            places[length + 1] = places[length] + counts[length];
        }
        let mut symbols = [0; MOST_SYMBOLS];
        for (symbol, &length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
            symbols[places[length]] = symbol;
            places[length] += 1;
        }
        Self { counts, symbols }
    }

    /// The next symbol: codes of one length are consecutive numbers (§3.2.2).
    fn symbol(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut place) = (0, 0, 0);
        for count in &self.counts[1..] {
            code |= bits.take(1)?;
            if code < first + count {
                return self.symbols.get(place + (code - first)).copied();
            }
            place += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// The codes of a block with fixed codes (§3.2.6).
fn fixed() -> (Code, Code) {
    let mut lengths = [8; MOST_SYMBOLS];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    (Code::new(&lengths), Code::new(&[5; 30]))
}

/// The codes that stand at the head of a block (§3.2.7).
fn dynamic(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let n_literals = bits.take(5)? + 257;
    let n_distances = bits.take(5)? + 1;
    let n_lengths = bits.take(4)? + 4;
    let mut of_lengths = [0; 19];
    for &place in &ORDER[..n_lengths] {
        of_lengths[place] = bits.take(3)?;
    }
    let of_lengths = Code::new(&of_lengths);
    let mut lengths = Vec::with_capacity(n_literals + n_distances);
    while lengths.len() < n_literals + n_distances {
        let (length, n_times) = match of_lengths.symbol(bits)? {
            16 => (*lengths.last()?, bits.take(2)? + 3),
            17 => (0, bits.take(3)? + 3),
            18 => (0, bits.take(7)? + 11),
            length => (length, 1),
        };
        lengths.extend(std::iter::repeat_n(length, n_times));
    }
    let (literals, distances) = lengths.split_at(n_literals);
    let is_code = n_literals <= MOST_SYMBOLS && distances.len() == n_distances;
    is_code.then(|| (Code::new(literals), Code::new(distances)))
}

/// The greatest distance in a block.
fn block(bits: &mut Bits<'_>, literals: &Code, distances: &Code) -> Option<usize> {
    let mut furthest = 0;
    loop {
        match literals.symbol(bits)? {
            0..256 => {}
            256 => return Some(furthest),
            symbol => {
                bits.take(*LENGTH_BITS.get(symbol - 257)?)?;
                let symbol = distances.symbol(bits)?;
                let least = *DISTANCES.get(symbol)?;
                let n_extra = (symbol as u32 / 2).saturating_sub(1);
                furthest = furthest.max(least + bits.take(n_extra)?);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_rfc_7692() {
        let check = |data: &[u8], expected| {
            assert_eq!(
                reach(&[data, &[0, 0, 0xFF, 0xFF]].concat()),
                expected,
                "{data:x?}"
            );
        };
        check(b"\xf2\x48\xcd\xc9\xc9\x07\x00", Some(0));
        check(b"\xf2\x00\x11\x00\x00", Some(5));
        check(b"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", Some(0));
        check(b"\x06", None);
    }

    #[test]
    fn distances_are_those_of_the_library() {
        let mut random = fastrand::Rng::with_seed(1951);
        for distance in [100, 513, 1000, 5000, 20_000, 32_000] {
            let noise: Vec<u8> = (0..distance).map(|_| random.u8(..64)).collect();
            let message = [&noise[..], &noise[..distance.min(50)]].concat();
            for level in [1, 6, 9] {
                let mut compress = flate2::Compress::new(flate2::Compression::new(level), false);
                let mut out = Vec::with_capacity(100_000);
                compress
                    .compress_vec(&message, &mut out, flate2::FlushCompress::Sync)
                    .unwrap();
                let found = reach(&out).unwrap();
                assert!(
                    distance < 4 || found == distance,
                    "{distance} at level {level}: {found}"
                );
            }
        }
    }
}
