//! The text of a summary in the database, compressed (zlib, RFC 1950) to a tenth of its size.

use std::io::{self, Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

/// The longest text, in bytes: twenty times the longest summary, and still little enough memory for any machine if the
/// file was manipulated.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn deflate(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// # Errors
/// The bytes are not compressed text, or the text is longer than 64 MiB.
pub(crate) fn inflate(deflated: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    let n_bytes = ZlibDecoder::new(deflated)
        .take(MOST_BYTES + 1)
        .read_to_string(&mut text)?;
    if n_bytes as u64 > MOST_BYTES {
        Err(io::Error::other("a summary of more than 64 MiB"))
    } else {
        Ok(text)
    }
}
