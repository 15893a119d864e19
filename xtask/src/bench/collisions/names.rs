//! Names that all have one hash in a table of `rustc-hash` 2, which has no random key: which an attacker can compute who knows
//! that function.
//!
//! It reads 16 bytes at a time, as two numbers `x` and `y`, into a state of two numbers: `(a, b)` becomes
//! `(b, mix(a ^ x, K ^ y))`, where `mix` adds up the halves of a product without carry. A block whose `x` is `a` has the
//! product 0, whatever its `y` is. So a name that has the state's own `a` in it may go on with any eight bytes: all such
//! names have the same state behind them, and the same hash. What is searched is a block that leaves an `a` of which
//! names can be made.

const START: (u64, u64) = (0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344);
const K: u64 = 0xa409_3822_299f_31d0;

/// Bytes of a block, and of each of its two numbers.
const BLOCK: usize = 16;
const HALF: usize = 8;

/// Behind the blocks: more than the hash function reads from the end of a name.
const END: &str = "................";

/// Makes names that begin alike.
pub(super) struct Names {
    /// Whole blocks, up to the number that makes a product 0.
    beginning: String,
    zero: String,
}

impl Names {
    /// Names that begin with `prefix`, which may be of any length.
    pub(super) fn beginning_with(prefix: &str) -> Self {
        let padding = ".".repeat(prefix.len().next_multiple_of(BLOCK) - prefix.len());
        let padded = format!("{prefix}{padding}");
        let state = blocks(&padded).fold(START, absorb);
        let searched = (0_u64..).find_map(|number| {
            let block = format!("{number:0BLOCK$}");
            // Another block of no importance moves the result of this one to the place where `x` meets it.
            let (zero, _) = blocks(&format!("{block}{END}")).fold(state, absorb);
            Some((block, text_of(zero)?))
        });
        let (block, zero) = searched.expect("one block in three thousand will do, and there are 10^16");
        Self {
            beginning: format!("{padded}{block}{END}"),
            zero,
        }
    }

    /// The `n`-th name that has the same hash as all others.
    pub(super) fn colliding(&self, n: usize) -> String {
        self.with(&self.zero, n)
    }

    /// The `n`-th name of the same length without such a peculiarity.
    pub(super) fn ordinary(&self, n: usize) -> String {
        self.with("ordinary", n)
    }

    fn with(&self, x: &str, n: usize) -> String {
        format!("{}{x}{n:0HALF$}{END}", self.beginning)
    }
}

fn blocks(text: &str) -> impl Iterator<Item = (u64, u64)> {
    let (blocks, _rest) = text.as_bytes().as_chunks::<BLOCK>();
    blocks.iter().map(|block| {
        let number = u128::from_le_bytes(*block);
        (number as u64, (number >> u64::BITS) as u64)
    })
}

fn absorb((a, b): (u64, u64), (x, y): (u64, u64)) -> (u64, u64) {
    (b, mix(a ^ x, K ^ y))
}

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> u64::BITS) as u64
}

/// The number as text, if that can stand in JSON as it is.
fn text_of(number: u64) -> Option<String> {
    let text = String::from_utf8(number.to_le_bytes().to_vec()).ok()?;
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    text.bytes().all(is_plain).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, hash::BuildHasher};

    use rustc_hash::FxBuildHasher;

    use super::*;

    #[test]
    fn names_collide_in_the_real_function() {
        for prefix in ["", "room", r#"{"channel":"BenchmarkChannel","key":""#] {
            let names = Names::beginning_with(prefix);
            let n_hashes = |name: fn(&Names, usize) -> String| {
                let all = (0..1_000).map(|n| name(&names, n));
                all.map(|name| FxBuildHasher.hash_one(name))
                    .collect::<HashSet<u64>>()
                    .len()
            };
            assert_eq!(n_hashes(Names::colliding), 1, "{prefix}");
            assert_eq!(n_hashes(Names::ordinary), 1_000, "{prefix}");
            assert!(names.colliding(7).starts_with(prefix));
            assert_eq!(names.colliding(7).len(), names.ordinary(7).len());
        }
    }
}
