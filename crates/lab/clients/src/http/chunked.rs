//! The chunked transfer coding (RFC 9112 §7.1), undone piece by piece.

use super::HttpError;

/// The longest line of a chunk's size or of a trailer. Servers write a few bytes; extensions are rare.
const MAX_LINE_BYTES: usize = 16 << 10;

/// The limit of all trailers together. They are skipped.
const MAX_TRAILER_BYTES: usize = 64 << 10;

/// The reader's position in a chunked body.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    state: State,
    /// Bytes of the line or of the trailers so far.
    n_line_bytes: usize,
}

#[derive(Debug, Default)]
enum State {
    /// In the digits of a size; `None` before the first digit.
    #[default]
    Start,
    Size(u64),
    /// Behind the digits, before the end of the line.
    Extension(u64),
    Data(u64),
    /// In the line end after a chunk's data.
    DataEnd,
    /// In the trailers; whether the line is not empty.
    Trailers {
        is_empty: bool,
    },
    Done,
}

impl Chunked {
    /// Whether the last chunk and the trailers have been read.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Consumes bytes from the front of `bytes` and passes pieces of the body to `on_data`. Returns the number of
    /// consumed bytes, which is all of them unless the body ended.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut on_data: impl FnMut(&[u8]) -> Result<(), HttpError>,
    ) -> Result<usize, HttpError> {
        let mut at = 0;
        while at < bytes.len() && !self.is_done() {
            if let State::Data(left) = self.state {
                let rest = &bytes[at..];
                let n = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
                on_data(&rest[..n])?;
                at += n;
                let left = left - n as u64;
                self.state = if left == 0 {
                    State::DataEnd
                } else {
                    State::Data(left)
                };
            } else {
                self.step(bytes[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    fn step(&mut self, byte: u8) -> Result<(), HttpError> {
        self.n_line_bytes += 1;
        let is_in_trailers = matches!(self.state, State::Trailers { .. });
        if self.n_line_bytes
            > if is_in_trailers {
                MAX_TRAILER_BYTES
            } else {
                MAX_LINE_BYTES
            }
        {
            return Err(HttpError::Malformed("a line of the chunked body is too long"));
        }
        self.state = match (&self.state, byte) {
            (State::Start, _) => State::Size(digit(byte)?),
            (State::Size(size) | State::Extension(size), b'\n') => self.data(*size),
            (State::Size(size), b'\r' | b';' | b' ' | b'\t') => State::Extension(*size),
            (State::Size(size), _) => {
                let larger = size
                    .checked_mul(16)
                    .and_then(|size| size.checked_add(digit(byte).ok()?));
                State::Size(larger.ok_or(HttpError::Malformed("a bad chunk size"))?)
            }
            (State::Extension(size), _) => State::Extension(*size),
            (State::DataEnd, b'\r') => State::DataEnd,
            (State::DataEnd, b'\n') => self.line(),
            (State::Trailers { is_empty: true }, b'\n') => State::Done,
            (State::Trailers { is_empty }, b'\r') => State::Trailers { is_empty: *is_empty },
            (State::Trailers { .. }, byte) => State::Trailers {
                is_empty: byte == b'\n',
            },
            (State::DataEnd | State::Data(_) | State::Done, _) => {
                return Err(HttpError::Malformed("a chunk is longer than its size says"));
            }
        };
        Ok(())
    }

    fn line(&mut self) -> State {
        self.n_line_bytes = 0;
        State::Start
    }

    fn data(&mut self, size: u64) -> State {
        self.n_line_bytes = 0;
        match size {
            0 => State::Trailers { is_empty: true },
            size => State::Data(size),
        }
    }
}

fn digit(byte: u8) -> Result<u64, HttpError> {
    let digit = char::from(byte).to_digit(16);
    digit
        .map(u64::from)
        .ok_or(HttpError::Malformed("a bad chunk size"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The body, how many bytes it took, and whether it ended; fed in pieces of `n_piece_bytes`.
    fn read(bytes: &[u8], n_piece_bytes: usize) -> Result<(Vec<u8>, usize, bool), String> {
        let (mut chunked, mut body, mut n_taken) = (Chunked::default(), Vec::new(), 0);
        for piece in bytes.chunks(n_piece_bytes.max(1)) {
            let taken = chunked.feed(piece, |data| {
                body.extend_from_slice(data);
                Ok(())
            });
            n_taken += taken.map_err(|error| error.to_string())?;
        }
        Ok((body, n_taken, chunked.is_done()))
    }

    #[test]
    fn a_body_is_the_data_of_its_chunks() {
        let check = |bytes: &str, body: &str, n_left: usize, is_done: bool| {
            for n_piece_bytes in [1, 2, 3, 1000] {
                let expected = (body.as_bytes().to_vec(), bytes.len() - n_left, is_done);
                assert_eq!(read(bytes.as_bytes(), n_piece_bytes), Ok(expected), "{bytes:?}");
            }
        };
        check("0\r\n\r\n", "", 0, true);
        check("3\r\nabc\r\n0\r\n\r\n", "abc", 0, true);
        check(
            "3;x=\"y\"\r\nabc\r\n00\r\nA: b\r\nC: d\r\n\r\nHTTP",
            "abc",
            4,
            true,
        );
        check("A \r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n", "0123456789x", 0, true);
        check("3\nabc\n0\n\n", "abc", 0, true);
        check("5\r\nab", "ab", 0, false);
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        let long = format!("1;{}", "x".repeat(MAX_LINE_BYTES));
        let trailers = format!("0\r\n{}", "a: b\r\n".repeat(MAX_TRAILER_BYTES));
        for bad in [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "fffffffffffffffff\r\n",
            "1\r\nab",
            &long,
            &trailers,
        ] {
            assert!(read(bad.as_bytes(), 7).is_err(), "{bad:.40}");
        }
    }

    proptest! {
        #[test]
        fn chunks_come_back_however_they_are_cut(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..10),
            n_piece_bytes in 1_usize..20,
        ) {
            let mut wire = Vec::new();
            for chunk in &chunks {
                wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(read(&wire, n_piece_bytes), Ok((chunks.concat(), wire.len(), true)));
        }

        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = read(&bytes, 5);
        }
    }
}
