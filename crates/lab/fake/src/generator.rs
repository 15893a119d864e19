//! Chance and time, from which values are made.

use std::{
    ops::RangeInclusive,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use fastrand::Rng;

use crate::words::Words;

/// The digits of decimal numbers.
pub(crate) const DIGITS: &str = "0123456789";
/// The digits of hexadecimal numbers.
pub(crate) const HEX_DIGITS: &str = "0123456789abcdef";
/// Small letters of ASCII.
pub(crate) const SMALL_LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
/// Capital letters of ASCII.
pub(crate) const CAPITAL_LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Letters of ASCII.
pub const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Letters and digits of ASCII.
pub const LETTERS_AND_DIGITS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// A source of chance, and the time of the next value.
#[derive(Clone, Debug)]
pub struct Generator {
    random: Rng,
    /// Since 1970.
    now: Duration,
}

impl Generator {
    /// A generator whose values follow from the seed; without a seed they differ each time.
    pub fn new(seed: Option<u64>) -> Self {
        Self {
            random: seed.map_or_else(Rng::new, Rng::with_seed),
            now: Duration::ZERO,
        }
    }

    /// Sets the time of the next values: some dates are past, some to come. Until then it is the beginning of 1970.
    pub fn set_time(&mut self, now: SystemTime) {
        self.now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    }

    /// The time, since 1970.
    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// One of these words.
    pub fn pick(&mut self, words: Words) -> &'static str {
        words.at(self.random.usize(..words.len()))
    }

    /// One of these items, of which there is at least one.
    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.random.usize(..items.len())]
    }

    /// Yes or no.
    pub fn boolean(&mut self) -> bool {
        self.random.bool()
    }

    /// A whole number in this range.
    pub fn integer(&mut self, range: RangeInclusive<i64>) -> i64 {
        self.random.i64(range)
    }

    /// A whole number in this range, in the type of sizes and positions.
    pub fn size(&mut self, range: RangeInclusive<usize>) -> usize {
        self.random.usize(range)
    }

    /// A whole number in this range, for numbers beyond those of `integer`.
    pub(crate) fn unsigned(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.random.u64(range)
    }

    /// 128 random bits.
    pub fn bits(&mut self) -> u128 {
        self.random.u128(..)
    }

    /// A number from `min` up to `max`. The distance may be larger than any number.
    pub fn float(&mut self, min: f64, max: f64) -> f64 {
        let part = self.random.f64();
        (min * (1.0 - part) + max * part).clamp(min.min(max), max.max(min))
    }

    /// This many of the characters of a text in ASCII.
    pub fn characters(&mut self, alphabet: &str, n: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..n).map(|_| char::from(self.one_of(alphabet))).collect()
    }

    /// This many digits.
    pub fn digits(&mut self, n: usize) -> String {
        self.characters(DIGITS, n)
    }

    /// Replaces each `mark` of a pattern by one of the characters of an alphabet.
    pub(crate) fn filled(&mut self, pattern: &str, mark: char, alphabet: &str) -> String {
        let alphabet = alphabet.as_bytes();
        let fill = |found: char| {
            if found == mark {
                char::from(self.one_of(alphabet))
            } else {
                found
            }
        };
        pattern.chars().map(fill).collect()
    }

    /// Puts items into another order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        self.random.shuffle(items);
    }

    /// Different words, in no order; fewer if there are not as many.
    pub(crate) fn several(&mut self, words: Words, n: usize) -> Vec<&'static str> {
        let mut positions: Vec<_> = (0..words.len()).collect();
        self.shuffle(&mut positions);
        positions.into_iter().take(n).map(|at| words.at(at)).collect()
    }
}
