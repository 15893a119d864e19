//! Histograms as text: the format that the HdrHistogram libraries of all languages share (V2, deflated, in base64).
//!
//! The code is ours because its input comes from files: the library's decoder trusts the sizes in the file, up to 4 GB,
//! and its feature brings three more crates. Tests compare with the library's own encoder and decoder.

use std::io::{Read, Write};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use super::{HIGHEST_NUMBER, Histogram, SIGNIFICANT_DIGITS};

/// First word of the format.
const COOKIE: u32 = 0x1c84_9313;

/// First word of the compressed data.
const DEFLATED_COOKIE: u32 = 0x1c84_9314;

/// Cookie, length of the counts, offset, digits, lowest and highest value, ratio.
const HEADER_LENGTH: usize = 40;

/// Buckets of 1,024 counters for values up to 2^64, with the digits that we have; the first is twice as long.
const MAX_COUNTERS: usize = 55 * 1024;

/// A count takes up to nine bytes.
const MAX_LENGTH: usize = HEADER_LENGTH + 9 * MAX_COUNTERS;

/// Values below this have a counter each; it is twice the number of counters in each later bucket.
const N_SINGLE: u64 = 2048;

/// Why a text is not a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is not base64.
    #[error("not base64")]
    NotBase64,
    /// What is encoded is not an HdrHistogram of version 2, deflated.
    #[error("not an encoded HdrHistogram (version 2, deflated)")]
    NotAHistogram,
    /// A histogram, but not of the kind that this program writes.
    #[error("not a histogram of whole numbers from 1 with 3 significant digits")]
    OtherResolution,
    /// The text ends too early, or has invalid contents.
    #[error("a damaged histogram")]
    Damaged,
}

impl Histogram {
    /// All samples as text. [`Self::sum`], [`Self::min`] and [`Self::max`] are in it within 0.1 % only.
    pub fn encode(&self) -> String {
        let mut deflated = ZlibEncoder::new(Vec::new(), Compression::default());
        let written = deflated.write_all(&self.plain()).and_then(|()| deflated.finish());
        let body = written.expect("memory takes all that is written");
        let mut bytes = DEFLATED_COOKIE.to_be_bytes().to_vec();
        let length = u32::try_from(body.len()).expect("a histogram has less than a megabyte");
        bytes.extend(length.to_be_bytes());
        bytes.extend(body);
        STANDARD.encode(bytes)
    }

    /// Decodes the result of [`Self::encode`]. The histogram grows with further samples.
    ///
    /// # Errors
    /// The text is invalid, or a histogram with other digits. Decoding takes at most a megabyte, whatever the text
    /// says.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        let bytes = STANDARD.decode(text).map_err(|_| DecodeError::NotBase64)?;
        let (cookie, rest) = bytes.split_first_chunk().ok_or(DecodeError::NotAHistogram)?;
        // The length of the compressed data is ignored; the rest of the text is used.
        let (_, deflated) = rest.split_first_chunk::<4>().ok_or(DecodeError::NotAHistogram)?;
        if u32::from_be_bytes(*cookie) != DEFLATED_COOKIE {
            return Err(DecodeError::NotAHistogram);
        }
        let mut plain = Vec::new();
        ZlibDecoder::new(deflated)
            .take(MAX_LENGTH as u64)
            .read_to_end(&mut plain)
            .map_err(|_| DecodeError::Damaged)?;
        Self::from_plain(&plain)
    }

    fn plain(&self) -> Vec<u8> {
        let mut counts = Vec::new();
        let mut next = 0;
        for (value, n) in self.filled() {
            let at = index_of(value);
            match at - next {
                0 => {}
                // A single zero is a count, as in the other libraries.
                1 => write_number(&mut counts, 0),
                gap => write_number(
                    &mut counts,
                    -i64::try_from(gap).expect("there are far fewer counters"),
                ),
            }
            // More samples than fit would take a century.
            write_number(&mut counts, i64::try_from(n).unwrap_or(i64::MAX));
            next = at + 1;
        }
        if counts.is_empty() {
            write_number(&mut counts, 0);
        }
        let length = u32::try_from(counts.len()).expect("a histogram has less than a megabyte");
        let mut bytes = Vec::with_capacity(HEADER_LENGTH + counts.len());
        bytes.extend(COOKIE.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(0_u32.to_be_bytes());
        bytes.extend(u32::from(SIGNIFICANT_DIGITS).to_be_bytes());
        bytes.extend(1_u64.to_be_bytes());
        bytes.extend(self.buckets.high().to_be_bytes());
        bytes.extend(1.0_f64.to_be_bytes());
        bytes.extend(counts);
        bytes
    }

    fn from_plain(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (header, counts) = bytes
            .split_first_chunk::<HEADER_LENGTH>()
            .ok_or(DecodeError::Damaged)?;
        let word =
            |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if word(0) != COOKIE {
            return Err(DecodeError::NotAHistogram);
        }
        if word(4) as usize != counts.len() {
            return Err(DecodeError::Damaged);
        }
        let lowest = (u64::from(word(16)) << 32) | u64::from(word(20));
        let is_ours = word(8) == 0 && word(12) == u32::from(SIGNIFICANT_DIGITS) && lowest == 1;
        if !is_ours || header[32..] != 1.0_f64.to_be_bytes() {
            return Err(DecodeError::OtherResolution);
        }
        let mut histogram = Self::of_numbers();
        let mut rest = counts;
        let mut at = 0_u64;
        while !rest.is_empty() {
            let number = read_number(&mut rest).ok_or(DecodeError::Damaged)?;
            match u64::try_from(number) {
                Ok(n) => {
                    histogram.add_at(at, n)?;
                    at += 1;
                }
                Err(_) => at = at.saturating_add(number.unsigned_abs()).min(MAX_COUNTERS as u64),
            }
        }
        Ok(histogram)
    }

    fn add_at(&mut self, index: u64, n: u64) -> Result<(), DecodeError> {
        if n == 0 {
            return Ok(());
        }
        let value = value_at(index)
            .filter(|&value| value <= HIGHEST_NUMBER)
            .ok_or(DecodeError::Damaged)?;
        self.buckets
            .record_n(value, n)
            .map_err(|_| DecodeError::Damaged)?;
        let highest = self.buckets.highest_equivalent(value);
        self.sum_us = self
            .sum_us
            .saturating_add(self.buckets.median_equivalent(value).saturating_mul(n));
        (self.min_us, self.max_us) = (self.min_us.min(value), self.max_us.max(highest));
        Ok(())
    }
}

/// The index of a value's counter: with 3 digits, values from 2^(10+k) on have one counter per 2^k.
fn index_of(value: u64) -> u64 {
    if value < N_SINGLE {
        return value;
    }
    let shift = u64::from(value.ilog2()) - 10;
    (shift << 10) + (value >> shift)
}

/// The lowest value of a counter; `None` beyond 64 bits.
fn value_at(index: u64) -> Option<u64> {
    if index < N_SINGLE {
        return Some(index);
    }
    let shift = (index >> 10) - 1;
    let within = (index & 1023) + 1024;
    // Within has eleven bits.
    (shift <= 53).then(|| within << shift)
}

/// Writes ZigZag and LEB128, in nine bytes at most: the last one uses all eight bits.
fn write_number(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        let low = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
    bytes.push(rest as u8);
}

/// `None` when it does not end.
fn read_number(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for position in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let is_last = position == 8 || byte & 0x80 == 0;
        let bits = if position == 8 { byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * position);
        if is_last {
            break;
        }
    }
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

#[cfg(test)]
mod tests;
