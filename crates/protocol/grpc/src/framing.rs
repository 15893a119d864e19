//! Messages in the body of a request or a response: each behind a prefix with its length.

use bytes::{Buf as _, Bytes, BytesMut};

/// The length of a message's prefix: a byte that says whether the message is compressed, and four bytes for its length.
pub const PREFIX_BYTES: usize = 5;
const UNCOMPRESSED: u8 = 0;

/// The prefix of an uncompressed message. A length that four bytes cannot hold becomes the largest one, which every server
/// refuses.
pub fn prefix(n_bytes: usize) -> [u8; PREFIX_BYTES] {
    let [a, b, c, d] = u32::try_from(n_bytes).unwrap_or(u32::MAX).to_be_bytes();
    [UNCOMPRESSED, a, b, c, d]
}

/// A message cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// It is compressed, although no compression was offered.
    #[error("the message is compressed")]
    Compressed,
    /// It is longer than allowed.
    #[error("the message has {n_bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// The length that its prefix announces.
        n_bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
}

/// Splits a body into messages. Holds at most one incomplete message and one piece of the body.
#[derive(Debug)]
pub struct Messages {
    buffer: BytesMut,
    max_bytes: usize,
}

impl Messages {
    /// A splitter for messages of at most this many bytes.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            max_bytes,
        }
    }

    /// Adds a piece of the body. Take all complete messages before the next one.
    pub fn put(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
    }

    /// The next complete message.
    ///
    /// # Errors
    /// The message is compressed or too long; the body is of no use any more.
    pub fn take(&mut self) -> Result<Option<Bytes>, FramingError> {
        let Some(prefix) = self.buffer.first_chunk::<PREFIX_BYTES>() else {
            return Ok(None);
        };
        let [compressed, length @ ..] = *prefix;
        let (n_bytes, max_bytes) = (u32::from_be_bytes(length) as usize, self.max_bytes);
        if n_bytes > max_bytes {
            return Err(FramingError::TooLong { n_bytes, max_bytes });
        }
        if compressed != UNCOMPRESSED {
            return Err(FramingError::Compressed);
        }
        if self.buffer.len() - PREFIX_BYTES < n_bytes {
            return Ok(None);
        }
        self.buffer.advance(PREFIX_BYTES);
        Ok(Some(self.buffer.split_to(n_bytes).freeze()))
    }

    /// Whether a part of a message is left.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages of a body that arrives in pieces of `n` bytes.
    fn split(body: &[u8], n: usize) -> (Vec<Bytes>, Result<bool, FramingError>) {
        let mut messages = Messages::new(4);
        let mut found = Vec::new();
        for piece in body.chunks(n) {
            messages.put(piece);
            loop {
                match messages.take() {
                    Ok(Some(message)) => found.push(message),
                    Ok(None) => break,
                    Err(error) => return (found, Err(error)),
                }
            }
        }
        (found, Ok(messages.is_empty()))
    }

    #[test]
    fn a_body_is_split_wherever_its_pieces_end() {
        let mut body = Vec::new();
        for message in [&b"ab"[..], b"", b"cdef"] {
            body.extend(prefix(message.len()));
            body.extend(message);
        }
        for n in 1..=body.len() {
            assert_eq!(
                split(&body, n),
                (vec!["ab".into(), "".into(), "cdef".into()], Ok(true))
            );
        }
        assert_eq!(split(&body[..9], 4), (vec!["ab".into()], Ok(false)));
    }

    #[test]
    fn long_and_compressed_messages_are_refused() {
        let too_long = FramingError::TooLong {
            n_bytes: 5,
            max_bytes: 4,
        };
        assert_eq!(split(b"\0\0\0\0\x05", 5), (vec![], Err(too_long)));
        assert_eq!(
            split(b"\x01\0\0\0\x02ab", 7),
            (vec![], Err(FramingError::Compressed))
        );
        assert_eq!(prefix(usize::MAX), [0, 255, 255, 255, 255]);
    }
}
