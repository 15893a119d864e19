//! Byte sequences that are UTF-8, and such that are not (RFC 3629 §3, §4), in the sections 6.5 to 6.23.

/// Sequences of one kind.
pub(super) struct Section {
    /// The number in the id.
    pub(super) number: u32,
    pub(super) title: &'static str,
    /// Bytes, and whether they are UTF-8.
    pub(super) sequences: Vec<(Vec<u8>, bool)>,
}

/// All sections. UTF-8 is defined here without a library: the tables are the specification's, and a test compares
/// them with the language's own decoder.
pub(super) fn all() -> Vec<Section> {
    let word = "κ\u{1f79}σμε".as_bytes();
    vec![
        section(
            5,
            "valid text",
            true,
            &[
                b"hello$world",
                "hello¢world".as_bytes(),
                "hello€world".as_bytes(),
                "hello𤭢world".as_bytes(),
                word,
            ],
        ),
        Section {
            number: 6,
            title: "a beginning of a word",
            sequences: (1..=word.len())
                .map(|n| (word[..n].to_vec(), str::from_utf8(&word[..n]).is_ok()))
                .collect(),
        },
        section(
            7,
            "the first sequence of its length",
            true,
            &[b"\0", b"\xC2\x80", b"\xE0\xA0\x80", b"\xF0\x90\x80\x80"],
        ),
        section(
            8,
            "the first sequence of five and of six bytes, which UTF-8 does not have",
            false,
            &[b"\xF8\x88\x80\x80\x80", b"\xFC\x84\x80\x80\x80\x80"],
        ),
        section(
            9,
            "the last sequence of its length",
            true,
            &[b"\x7F", b"\xDF\xBF", b"\xEF\xBF\xBF", b"\xF4\x8F\xBF\xBF"],
        ),
        section(
            10,
            "the last sequence that old definitions had",
            false,
            &[
                b"\xF7\xBF\xBF\xBF",
                b"\xFB\xBF\xBF\xBF\xBF",
                b"\xFD\xBF\xBF\xBF\xBF\xBF",
            ],
        ),
        Section {
            number: 11,
            title: "beside a boundary",
            sequences: [
                (&b"\xED\x9F\xBF"[..], true),
                (b"\xEE\x80\x80", true),
                (b"\xEF\xBF\xBD", true),
                (b"\xF4\x8F\xBF\xBF", true),
                (b"\xF4\x90\x80\x80", false),
            ]
            .map(|(bytes, is_valid)| (bytes.to_vec(), is_valid))
            .into(),
        },
        Section {
            number: 12,
            title: "continuation bytes that continue nothing",
            sequences: invalid(
                [b"\x80".to_vec(), b"\xBF".to_vec()]
                    .into_iter()
                    .chain((2..=6).map(|n| b"\x80\xBF".iter().copied().cycle().take(n).collect()))
                    .chain([(0x80..=0xBF).collect()]),
            ),
        },
        Section {
            number: 13,
            title: "first bytes without the rest, each before a space",
            sequences: invalid(
                [0xC0..=0xDF, 0xE0..=0xEF, 0xF0..=0xF7, 0xF8..=0xFB, 0xFC..=0xFD]
                    .into_iter()
                    .map(|firsts| firsts.flat_map(|first| [first, b' ']).collect()),
            ),
        },
        Section {
            number: 14,
            title: "a sequence without its last byte",
            sequences: invalid(incomplete()),
        },
        Section {
            number: 15,
            title: "all of these behind each other",
            sequences: invalid([incomplete().concat()]),
        },
        section(
            16,
            "bytes that UTF-8 never has",
            false,
            &[b"\xFE", b"\xFF", b"\xFE\xFE\xFF\xFF"],
        ),
        section(
            17,
            "a slash in more bytes than it needs",
            false,
            &[
                b"\xC0\xAF",
                b"\xE0\x80\xAF",
                b"\xF0\x80\x80\xAF",
                b"\xF8\x80\x80\x80\xAF",
                b"\xFC\x80\x80\x80\x80\xAF",
            ],
        ),
        section(
            18,
            "the last one that needs fewer bytes",
            false,
            &[
                b"\xC1\xBF",
                b"\xE0\x9F\xBF",
                b"\xF0\x8F\xBF\xBF",
                b"\xF8\x87\xBF\xBF\xBF",
                b"\xFC\x83\xBF\xBF\xBF\xBF",
            ],
        ),
        section(
            19,
            "a zero in more bytes than it needs",
            false,
            &[
                b"\xC0\x80",
                b"\xE0\x80\x80",
                b"\xF0\x80\x80\x80",
                b"\xF8\x80\x80\x80\x80",
                b"\xFC\x80\x80\x80\x80\x80",
            ],
        ),
        Section {
            number: 20,
            title: "half of a pair of surrogates",
            sequences: invalid(
                [0xD800, 0xDB7F, 0xDB80, 0xDBFF, 0xDC00, 0xDF80, 0xDFFF]
                    .map(|unit| three_bytes(unit).to_vec()),
            ),
        },
        Section {
            number: 21,
            title: "a pair of surrogates",
            sequences: invalid(
                [0xD800, 0xDB7F, 0xDB80, 0xDBFF].into_iter().flat_map(|high| {
                    [0xDC00, 0xDFFF].map(|low| [three_bytes(high), three_bytes(low)].concat())
                }),
            ),
        },
        Section {
            number: 22,
            title: "a code point that is not a character",
            sequences: (0..=0x10_u32)
                .flat_map(|plane| [0xFFFE, 0xFFFF].map(|low| valid(plane << 16 | low)))
                .collect(),
        },
        Section {
            number: 23,
            title: "a special code point",
            sequences: (0xFFF9..=0xFFFF).map(valid).collect(),
        },
    ]
}

fn section(number: u32, title: &'static str, is_valid: bool, sequences: &[&[u8]]) -> Section {
    Section {
        number,
        title,
        sequences: sequences.iter().map(|bytes| (bytes.to_vec(), is_valid)).collect(),
    }
}

fn invalid(sequences: impl IntoIterator<Item = Vec<u8>>) -> Vec<(Vec<u8>, bool)> {
    sequences.into_iter().map(|bytes| (bytes, false)).collect()
}

/// The first and the last sequence of two to six bytes, each without its last byte.
fn incomplete() -> Vec<Vec<u8>> {
    let firsts = (1..=5).map(|n| {
        let first: u8 = [0xC0, 0xE0, 0xF0, 0xF8, 0xFC][n - 1];
        std::iter::once(first)
            .chain(std::iter::repeat_n(0x80, n - 1))
            .collect()
    });
    let lasts = (1..=5).map(|n| {
        let first: u8 = [0xDF, 0xEF, 0xF7, 0xFB, 0xFD][n - 1];
        std::iter::once(first)
            .chain(std::iter::repeat_n(0xBF, n - 1))
            .collect()
    });
    firsts.chain(lasts).collect()
}

/// A UTF-16 unit as if it were a code point.
fn three_bytes(unit: u16) -> [u8; 3] {
    [
        0xE0 | (unit >> 12) as u8,
        0x80 | (unit >> 6 & 0x3F) as u8,
        0x80 | (unit & 0x3F) as u8,
    ]
}

/// The sequence of a code point that is not a surrogate.
fn valid(code_point: u32) -> (Vec<u8>, bool) {
    let character = char::from_u32(code_point).expect("no surrogate, and not beyond the last plane");
    (character.to_string().into_bytes(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_say_what_utf_8_is() {
        for section in all() {
            for (bytes, is_valid) in section.sequences {
                assert_eq!(
                    str::from_utf8(&bytes).is_ok(),
                    is_valid,
                    "6.{}: {}",
                    section.number,
                    bytes.escape_ascii()
                );
            }
        }
    }
}
