//! Lists of words.

/// Words with `, ` between them. One text takes a tenth of the memory and of the lines that a list of texts takes, and
/// finding a word in it costs less than copying the word.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    text: &'static str,
    n_words: usize,
}

/// The list of the words in a text.
pub(crate) const fn words(text: &'static str) -> Words {
    let (bytes, mut n_words, mut at) = (text.as_bytes(), 1, 1);
    while at < bytes.len() {
        if bytes[at - 1] == b',' && bytes[at] == b' ' {
            n_words += 1;
        }
        at += 1;
    }
    Words { text, n_words }
}

impl Words {
    /// The number of words.
    pub(crate) const fn len(self) -> usize {
        self.n_words
    }

    /// The word at this position, from 0.
    pub(crate) fn at(self, position: usize) -> &'static str {
        self.text.split(", ").nth(position).unwrap_or_default()
    }

    /// All words.
    #[cfg(test)]
    pub(crate) fn all(self) -> impl Iterator<Item = &'static str> {
        self.text.split(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_and_found() {
        let check = |text, expected: &[&str]| {
            let list = words(text);
            assert_eq!(list.len(), expected.len(), "{text}");
            let found: Vec<_> = (0..list.len()).map(|position| list.at(position)).collect();
            assert_eq!(found, expected);
        };
        check("one", &["one"]);
        check("one, two words, 3", &["one", "two words", "3"]);
        check("a,b, c", &["a,b", "c"]);
        assert_eq!(words("one").at(1), "");
    }
}
