//! PEM (RFC 7468), read as leniently as OpenSSL does: lines of any length, headers, and text around the blocks.

use base64::{Engine as _, prelude::BASE64_STANDARD};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// One block of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// The text after `BEGIN`, such as `PUBLIC KEY`.
    pub(super) label: &'a str,
    /// Whether a header says that the content is encrypted (RFC 1421 §4.6.1.1).
    pub(super) is_encrypted: bool,
    /// The content.
    pub(super) der: Vec<u8>,
}

/// The blocks of a text, in their order. One that is not complete, or not base64, ends them.
pub(super) fn blocks(mut text: &str) -> impl Iterator<Item = Block<'_>> {
    std::iter::from_fn(move || {
        let (block, rest) = first(text)?;
        text = rest;
        Some(block)
    })
}

/// The first block, and the text after it.
fn first(text: &str) -> Option<(Block<'_>, &str)> {
    let (_, begun) = text.split_once(BEGIN)?;
    let (label, content) = begun.split_once(DASHES)?;
    let (content, rest) = content.split_once(END)?;
    let rest = rest.strip_prefix(label)?.strip_prefix(DASHES)?;
    let (headers, lines): (Vec<_>, Vec<_>) = content.lines().partition(|line| line.contains(':'));
    let digits: String = lines
        .concat()
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .collect();
    let is_encrypted = headers.iter().any(|header| header.contains("ENCRYPTED"));
    // The content of an encrypted block is of no use.
    let decoded = BASE64_STANDARD.decode(digits);
    let der = if is_encrypted {
        decoded.unwrap_or_default()
    } else {
        decoded.ok()?
    };
    let block = Block {
        label,
        is_encrypted,
        der,
    };
    Some((block, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_by_openssl() {
        let check = |text: &str, expected: &[(&str, bool, &[u8])]| {
            let found: Vec<_> = blocks(text).collect();
            let found: Vec<_> = found
                .iter()
                .map(|block| (block.label, block.is_encrypted, &*block.der))
                .collect();
            assert_eq!(found, expected, "{text:?}");
        };
        check("", &[]);
        check("-----BEGIN A-----\nYWI=\n-----END A-----", &[("A", false, b"ab")]);
        let spaced = "x\r\n-----BEGIN A B-----\r\n  YW\r\nJj\r\n-----END A B-----\r\ny";
        check(spaced, &[("A B", false, b"abc")]);
        check("-----BEGIN A-----YWJj-----END A-----", &[("A", false, b"abc")]);
        let two = "-----BEGIN A-----\nYQ==\n-----END A-----\n-----BEGIN B-----\nYg==\n-----END B-----\n";
        check(two, &[("A", false, b"a"), ("B", false, b"b")]);
        let encrypted =
            "-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\nYQ==\n-----END A-----";
        check(encrypted, &[("A", true, b"a")]);
        check("-----BEGIN A-----\nYQ==\n-----END B-----", &[]);
        check("-----BEGIN A-----\n!\n-----END A-----", &[]);
        check("-----BEGIN A-----\nYQ==\n", &[]);
    }
}
