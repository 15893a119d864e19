//! permessage-deflate of the tester (RFC 7692): with zlib, and strict about the target's data.

use std::fmt;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::reader::Violation;

mod reach;

use reach::reach;

/// The bytes that the sender removes at the end of a message and the receiver restores (RFC 7692 §7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xFF, 0xFF];

/// The largest message that is inflated. Reason: as for frames; a few bytes could become gigabytes.
const MOST_MESSAGE_BYTES: usize = 64 << 20;

/// The number of bytes that are inflated at once.
const STEP_BYTES: usize = 16 << 10;

/// The compression of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Direction {
    /// Whether a message may refer back to those before it.
    pub(crate) takes_over: bool,
    /// The base-2 logarithm of the window, 8–15.
    pub(crate) window_bits: u8,
}

impl Direction {
    /// The parameters without negotiation.
    #[cfg(test)]
    pub(crate) const UNLIMITED: Self = Self {
        takes_over: true,
        window_bits: 15,
    };
}

/// Both directions of a connection with compression.
#[derive(Debug)]
pub(crate) struct Deflate {
    sending: Direction,
    compress: Compress,
    receiving: Direction,
    decompress: Decompress,
}

impl Deflate {
    /// The state of a fresh connection.
    pub(crate) fn new(sending: Direction, receiving: Direction) -> Self {
        // zlib has no window of 8 bits for compressing; one of 9 would look back too far. Nothing is compressed then.
        let window_bits = sending.window_bits.clamp(9, 15);
        Self {
            sending,
            compress: Compress::new_with_window_bits(Compression::default(), false, window_bits),
            receiving,
            decompress: Decompress::new(false),
        }
    }

    /// Whether messages can be compressed as was agreed: not with a window of 8 bits, which zlib does not have.
    pub(crate) fn can_compress(&self) -> bool {
        self.sending.window_bits >= 9
    }

    /// A whole message, compressed for sending.
    pub(crate) fn compress(&mut self, message: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(message.len() / 2 + 64);
        if message.is_empty() {
            // zlib would not flush twice in a row; RFC 7692 §7.2.3.6.
            return vec![0];
        }
        let start = self.compress.total_in();
        loop {
            let n_done = (self.compress.total_in() - start) as usize;
            out.reserve(message.len() - n_done + 64);
            self.compress
                .compress_vec(&message[n_done..], &mut out, FlushCompress::Sync)
                .expect("zlib compresses anything");
            if out.len() < out.capacity() {
                break;
            }
        }
        out.truncate(out.len() - TAIL.len());
        if !self.sending.takes_over {
            self.compress.reset();
        }
        out
    }

    /// A whole message as it was before the target compressed it.
    ///
    /// # Errors
    /// It is not DEFLATE data, or reaches back further than was agreed.
    pub(crate) fn inflate(&mut self, compressed: &[u8]) -> Result<Vec<u8>, Violation> {
        if self.receiving.window_bits < 15 {
            let whole = [compressed, &TAIL].concat();
            let window = 1 << self.receiving.window_bits;
            reach(&whole)
                .filter(|reach| *reach <= window)
                .ok_or_else(|| self.violation())?;
        }
        let mut message = Vec::new();
        self.inflate_some(compressed, &mut message)?;
        self.inflate_some(&TAIL, &mut message)?;
        if !self.receiving.takes_over {
            self.decompress.reset(false);
        }
        Ok(message)
    }

    fn inflate_some(&mut self, mut compressed: &[u8], message: &mut Vec<u8>) -> Result<(), Violation> {
        let mut output = [0; STEP_BYTES];
        loop {
            let (start_in, start_out) = (self.decompress.total_in(), self.decompress.total_out());
            let status = self
                .decompress
                .decompress(compressed, &mut output, FlushDecompress::Sync)
                .map_err(|_| self.violation())?;
            let n_in = (self.decompress.total_in() - start_in) as usize;
            let n_out = (self.decompress.total_out() - start_out) as usize;
            message.extend(&output[..n_out]);
            if message.len() > MOST_MESSAGE_BYTES {
                let text = "a message that inflates to more bytes than any case asks for";
                return Err(Violation::must("RFC 6455 §6.2", text));
            }
            compressed = &compressed[n_in..];
            match status {
                // A final block ends the stream, and not the message (RFC 7692 §7.2.3.4).
                Status::StreamEnd => self.decompress.reset(false),
                _ if n_in == 0 && n_out == 0 && !compressed.is_empty() => return Err(self.violation()),
                Status::Ok | Status::BufError => {}
            }
            if compressed.is_empty() && n_out < STEP_BYTES {
                return Ok(());
            }
        }
    }

    fn violation(&self) -> Violation {
        let Direction {
            takes_over,
            window_bits,
        } = self.receiving;
        let over = if takes_over { "with" } else { "without" };
        let text = format!(
            "compressed data that cannot be inflated {over} context takeover and with a window of {window_bits} bits \
             (RFC 7692 §7.2.1)"
        );
        Violation::must("RFC 7692 §7.2.1", text)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = if self.takes_over {
            "context takeover"
        } else {
            "no context takeover"
        };
        write!(f, "{over}, window of {} bits", self.window_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(direction: Direction) -> (Deflate, Deflate) {
        let end = || Deflate::new(direction, direction);
        (end(), end())
    }

    /// Text in which the second half repeats the first, which lies `distance` back.
    fn repeating(distance: usize) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(7);
        let half: Vec<u8> = (0..distance).map(|_| random.u8(..)).collect();
        half.repeat(2)
    }

    #[test]
    fn messages_survive_in_all_terms() {
        for takes_over in [true, false] {
            for window_bits in 9..=15 {
                let (mut here, mut there) = pair(Direction {
                    takes_over,
                    window_bits,
                });
                for message in [
                    repeating(1000),
                    Vec::new(),
                    b"Hello".to_vec(),
                    b"Hello".to_vec(),
                    vec![0; 100_000],
                ] {
                    let compressed = here.compress(&message);
                    assert_eq!(
                        there.inflate(&compressed),
                        Ok(message),
                        "{window_bits} {takes_over}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_examples_of_rfc_7692_7_2_3() {
        let (mut end, _) = pair(Direction::UNLIMITED);
        for (compressed, message) in [
            (&b"\xf2\x48\xcd\xc9\xc9\x07\x00"[..], &b"Hello"[..]),
            (b"\xf2\x00\x11\x00\x00", b"Hello"),
            (b"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", b"Hello"),
            (b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00", b"Hello"),
            (b"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", b"Hello"),
            (b"\x00", b""),
        ] {
            assert_eq!(end.inflate(compressed), Ok(message.to_vec()), "{compressed:x?}");
        }
    }

    /// Whether a tester with the parameters `agreed` accepts the data of a target with the parameters `sent`.
    fn is_taken(sent: Direction, agreed: Direction, messages: &[&[u8]]) -> bool {
        let mut target = Deflate::new(sent, sent);
        let mut tester = Deflate::new(agreed, agreed);
        messages
            .iter()
            .all(|message| tester.inflate(&target.compress(message)).is_ok())
    }

    #[test]
    fn terms_that_are_not_kept_are_noticed() {
        let far = repeating(2000);
        let limited = Direction {
            window_bits: 10,
            ..Direction::UNLIMITED
        };
        assert!(is_taken(limited, limited, &[&far]));
        assert!(!is_taken(Direction::UNLIMITED, limited, &[&far]));
        let fresh = Direction {
            takes_over: false,
            ..Direction::UNLIMITED
        };
        let again: [&[u8]; 2] = [b"over and over", b"over and over"];
        assert!(is_taken(fresh, fresh, &again));
        assert!(is_taken(fresh, Direction::UNLIMITED, &again));
        assert!(!is_taken(Direction::UNLIMITED, fresh, &again));
    }

    #[test]
    fn what_is_no_deflate_is_a_violation() {
        let (mut end, _) = pair(Direction::UNLIMITED);
        assert!(end.inflate(b"\xff\xff\xff").is_err());
    }
}
