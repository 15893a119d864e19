//! Payloads of five kinds, made from a seed: as varied as real files, equal in each run, and free of other authors'
//! text.

use std::{cell::OnceCell, fmt::Write as _};

use crate::protocol::frame::{BINARY, TEXT};

/// The number of bytes of each kind. Messages are cut out at changing places; the largest message is half of it.
const CORPUS_BYTES: usize = 256 << 10;

/// The content of messages. The kinds compress very differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Records with names that repeat and values that do not, as text.
    Json,
    /// Bytes without any order, which no compression makes smaller.
    Noise,
    /// Words and sentences, as text with characters beyond ASCII.
    Prose,
    /// Elements within each other, as text.
    Html,
    /// A few bytes, repeated.
    Repetition,
}

impl Kind {
    /// All kinds, in the order of the families of cases.
    pub(super) const ALL: [Self; 5] = [Self::Json, Self::Noise, Self::Prose, Self::Html, Self::Repetition];

    /// The name in titles.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Noise => "noise",
            Self::Prose => "prose",
            Self::Html => "HTML",
            Self::Repetition => "repetition",
        }
    }

    /// The opcode of its messages. Noise is not text, and repetition is sent as bytes to have more of those.
    pub(super) fn opcode(self) -> u8 {
        match self {
            Self::Json | Self::Prose | Self::Html => TEXT,
            Self::Noise | Self::Repetition => BINARY,
        }
    }
}

/// The bytes from which all messages of one kind are cut, created at first use.
#[derive(Debug, Default)]
pub(super) struct Corpora([OnceCell<Vec<u8>>; Kind::ALL.len()]);

impl Corpora {
    /// A message of `n_bytes`, at most half of [`CORPUS_BYTES`]; another one for each `number`.
    pub(super) fn message(&self, kind: Kind, n_bytes: usize, number: usize) -> Vec<u8> {
        let corpus = self.0[kind as usize].get_or_init(|| kind.corpus());
        let n_starts = corpus.len().saturating_sub(n_bytes).max(1);
        // A step without a common divisor with the number of places visits all of them.
        let start = number.wrapping_mul(7919) % n_starts;
        let cut = &corpus[start..corpus.len().min(start + n_bytes)];
        let mut message = cut.to_vec();
        if kind.opcode() == TEXT {
            mend(&mut message);
        }
        message
    }
}

/// Makes a cut text valid again, in the same number of bytes.
fn mend(text: &mut [u8]) {
    let is_continuation = |byte: u8| byte & 0xC0 == 0x80;
    for byte in text.iter_mut().take_while(|byte| is_continuation(**byte)) {
        *byte = b'-';
    }
    if let Err(error) = str::from_utf8(text) {
        text[error.valid_up_to()..].fill(b'-');
    }
}

impl Kind {
    fn corpus(self) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(7692 + self as u64);
        let mut text = String::new();
        match self {
            Self::Noise => {
                return std::iter::repeat_with(|| random.u8(..))
                    .take(CORPUS_BYTES)
                    .collect();
            }
            Self::Repetition => return b"conform ".iter().copied().cycle().take(CORPUS_BYTES).collect(),
            Self::Json => {
                while text.len() < CORPUS_BYTES {
                    add_record(&mut text, &mut random);
                }
            }
            Self::Prose => {
                while text.len() < CORPUS_BYTES {
                    add_sentence(&mut text, &mut random);
                }
            }
            Self::Html => {
                while text.len() < CORPUS_BYTES {
                    add_element(&mut text, &mut random, 4);
                }
            }
        }
        text.into_bytes()
    }
}

fn add_record(text: &mut String, random: &mut fastrand::Rng) {
    let (id, score, name) = (random.u32(..), random.f64(), word(random));
    let _ = writeln!(
        text,
        r#"{{"id":{id},"name":"{name}","score":{score},"tags":["{}","{}"],"isOpen":{},"parent":null}},"#,
        word(random),
        word(random),
        random.bool()
    );
}

fn add_sentence(text: &mut String, random: &mut fastrand::Rng) {
    for at in 0..random.usize(3..15) {
        if at > 0 {
            text.push(' ');
        }
        text.push_str(&word(random));
    }
    text.push_str(". ");
    if random.u8(..) < 16 {
        text.push_str("\n\n— ");
    }
}

fn add_element(text: &mut String, random: &mut fastrand::Rng, depth: u32) {
    let tag = ["div", "p", "section", "li", "span"][random.usize(..5)];
    let _ = write!(
        text,
        "<{tag} class=\"{}\" id=\"n{}\">",
        word(random),
        random.u16(..)
    );
    if depth == 0 {
        add_sentence(text, random);
    } else {
        for _ in 0..random.usize(1..4) {
            add_element(text, random, depth - 1);
        }
    }
    let _ = writeln!(text, "</{tag}>");
}

/// One of some thousand words; short words are more frequent.
fn word(random: &mut fastrand::Rng) -> String {
    const SYLLABLES: [&str; 16] = [
        "ma", "re", "to", "li", "ka", "ün", "so", "é", "dar", "vin", "pel", "ω", "mo", "stra", "qui", "海",
    ];
    let n_syllables = 1 + random.usize(..2) + random.usize(..2);
    (0..n_syllables)
        .map(|_| SYLLABLES[random.usize(..SYLLABLES.len())])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_size_and_kind_and_differ() {
        let corpora = Corpora::default();
        for kind in Kind::ALL {
            for n_bytes in [0, 1, 16, 1000, 131_072] {
                for number in 0..20 {
                    let message = corpora.message(kind, n_bytes, number);
                    assert_eq!(message.len(), n_bytes, "{kind:?} {number}");
                    assert!(
                        kind.opcode() != TEXT || str::from_utf8(&message).is_ok(),
                        "{kind:?} {number}"
                    );
                }
            }
            let is_same = corpora.message(kind, 1000, 1) == corpora.message(kind, 1000, 2);
            assert!(!is_same, "{kind:?}");
            assert_eq!(
                corpora.message(kind, 1000, 1),
                Corpora::default().message(kind, 1000, 1)
            );
        }
    }
}
