//! Text that arrives in pieces (RFC 6455 §8.1): a code point may be split anywhere, and invalid bytes must be detected
//! as soon as they arrive, not at the end of the message.

/// A growing UTF-8 text with at most one unfinished code point at its end.
#[derive(Debug, Default)]
pub(crate) struct Text {
    valid: String,
    /// The first bytes of an incomplete code point: a valid prefix, at most three bytes.
    unfinished: [u8; 4],
    n_unfinished: u8,
}

/// The bytes cannot be UTF-8, whatever follows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidUtf8;

impl Text {
    /// Appends the next bytes.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<(), InvalidUtf8> {
        while self.n_unfinished > 0 {
            let Some((&first, rest)) = bytes.split_first() else {
                return Ok(());
            };
            bytes = rest;
            self.push_to_unfinished(first)?;
        }
        self.push_from_boundary(bytes)
    }

    /// Bytes so far, including an incomplete code point.
    pub(crate) fn len(&self) -> usize {
        self.valid.len() + usize::from(self.n_unfinished)
    }

    /// Bytes of memory on the heap.
    pub(crate) fn capacity(&self) -> usize {
        self.valid.capacity()
    }

    /// Whether the text ends between two code points.
    pub(crate) fn is_finished(&self) -> bool {
        self.n_unfinished == 0
    }

    /// The text up to the unfinished code point.
    pub(crate) fn as_str(&self) -> &str {
        &self.valid
    }

    fn push_to_unfinished(&mut self, byte: u8) -> Result<(), InvalidUtf8> {
        self.unfinished[usize::from(self.n_unfinished)] = byte;
        self.n_unfinished += 1;
        match std::str::from_utf8(&self.unfinished[..usize::from(self.n_unfinished)]) {
            Ok(code_point) => {
                self.valid.push_str(code_point);
                self.n_unfinished = 0;
                Ok(())
            }
            Err(e) if e.error_len().is_none() => Ok(()),
            Err(_) => Err(InvalidUtf8),
        }
    }

    fn push_from_boundary(&mut self, bytes: &[u8]) -> Result<(), InvalidUtf8> {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => {
                self.valid.push_str(text);
                return Ok(());
            }
            Err(e) if e.error_len().is_some() => return Err(InvalidUtf8),
            Err(e) => e,
        };
        let (valid, unfinished) = bytes.split_at(error.valid_up_to());
        self.valid
            .push_str(std::str::from_utf8(valid).map_err(|_| InvalidUtf8)?);
        self.unfinished[..unfinished.len()].copy_from_slice(unfinished);
        self.n_unfinished = unfinished.len() as u8;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` is the index of the byte that makes the text invalid, fed one byte at a time.
    fn check(bytes: &[u8], expected: Option<usize>) {
        let mut text = Text::default();
        let failed_at = bytes.iter().position(|byte| text.push(&[*byte]).is_err());
        assert_eq!(failed_at, expected, "{bytes:x?} byte by byte");
        assert_eq!(
            Text::default().push(bytes).is_err(),
            expected.is_some(),
            "{bytes:x?} at once"
        );
    }

    #[test]
    fn fails_at_the_first_byte_that_proves_it() {
        check("κόσμε ✓ 🦀".as_bytes(), None);
        check(&[0xCE], None);
        check(&[0xF0, 0x9F, 0xA6], None);
        check(
            b"\xCE\xBA\xE1\xBD\xB9\xCF\x83\xCE\xBC\xCE\xB5\xF4\x90\x80\x80edited",
            Some(12),
        );
        check(&[0xC0, 0xAF], Some(0));
        check(&[0x80], Some(0));
        check(&[b'a', 0xED, 0xA0, 0x80], Some(2));
        check(&[0xE2, 0x28], Some(1));
        check(&[0xF5], Some(0));
    }

    /// Byte by byte, the memory would double several times.
    #[test]
    fn a_whole_piece_is_copied_at_once() {
        let mut text = Text::default();
        text.push("✓".repeat(1_000).as_bytes()).unwrap();
        assert_eq!(text.capacity(), 3_000);
    }

    #[test]
    fn joins_a_code_point_that_was_cut_anywhere() {
        let whole = "aκ✓🦀z";
        for cut in 0..=whole.len() {
            let mut text = Text::default();
            text.push(&whole.as_bytes()[..cut]).unwrap();
            assert_eq!(text.len(), cut);
            text.push(&whole.as_bytes()[cut..]).unwrap();
            assert!(text.is_finished());
            assert_eq!(text.as_str(), whole, "cut at {cut}");
        }
    }
}
