//! Patterns of case ids, as in Autobahn's specifications: `1.*`, `12.1.3`.

use std::fmt;

use crate::CaseId;

/// Some cases, by their ids: `*` stands for any text, dots and slashes included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern that `text` is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is about this case and no other.
    pub fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }

    /// Whether the whole id is as the pattern says.
    pub fn matches(&self, id: &CaseId) -> bool {
        matches_whole(&self.0, id.as_str())
    }

    /// Whether whoever typed the pattern means this case: [`matches`](Self::matches), all below an id (`6.4` has
    /// `6.4.1`), and words of ids. Titles do not count: their words are those of many other cases. A pattern that is
    /// itself the id of a case means that case alone, which only those know who know all cases: see
    /// [`Selection`](crate::Selection).
    pub fn selects(&self, id: &CaseId) -> bool {
        let text = id.as_str();
        let is_below = text
            .strip_prefix(&self.0)
            .is_some_and(|rest| rest.starts_with(['.', '/']));
        let is_word =
            self.0.contains(char::is_alphabetic) && has_word(&text.to_lowercase(), &self.0.to_lowercase());
        self.matches(id) || is_below || is_word
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Whether `text` begins with what stands before the first `*`, has what stands between stars in their order, and ends
/// with what stands after the last one. Taking each piece where it comes first leaves most for the others, so nothing is
/// tried twice.
fn matches_whole(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(head) else {
        return false;
    };
    let (between, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    for piece in between.split('*') {
        match text.find(piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(tail)
}

/// Whether a text has a word, or the beginning of one: `stream` is in `streams/single`. A number is in it as a whole or not
/// at all: `h.2` is in `h.2.1`, and not in `h.20`.
fn has_word(text: &str, word: &str) -> bool {
    let ends_in_number = word.ends_with(|last: char| last.is_ascii_digit());
    text.match_indices(word).any(|(at, _)| {
        let cuts_number = text[at + word.len()..].starts_with(|next: char| next.is_ascii_digit());
        !(ends_in_number && cuts_number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, id, expected) in [
            ("1.1.1", "1.1.1", true),
            ("1.1.1", "1.1.10", false),
            ("1.*", "1.1.1", true),
            ("1.*", "10.1.1", false),
            ("*", "", true),
            ("**", "anything", true),
            ("9.*.6", "9.1.6", true),
            ("9.*.6", "9.1.16", false),
            ("a*a", "a", false),
            ("a*b*c", "a/b/b/c", true),
            ("a*b*bc", "a/bc", false),
            ("", "1", false),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(&CaseId::new(id)),
                expected,
                "{pattern} {id}"
            );
        }
    }

    #[test]
    fn what_people_type_selects_more() {
        let id = CaseId::new("cable/streams/single");
        for (pattern, expected) in [
            ("cable/streams", true),
            ("cable/stream", true),
            ("STREAMS", true),
            ("cable/*", true),
            ("multiple", false),
            ("1", false),
        ] {
            assert_eq!(Pattern::new(pattern).selects(&id), expected, "{pattern}");
        }
        let numbered = CaseId::new("6.4.1");
        for (pattern, expected) in [("6", true), ("6.4", true), ("4", false), ("6.", false)] {
            assert_eq!(Pattern::new(pattern).selects(&numbered), expected, "{pattern}");
        }
        let lettered = CaseId::new("h.20.10");
        for (pattern, expected) in [
            ("h", true),
            ("h.20", true),
            ("h.2", false),
            ("h.20.1", false),
            ("h.20.10", true),
            ("h.2*", true),
            ("clo", false),
        ] {
            assert_eq!(Pattern::new(pattern).selects(&lettered), expected, "{pattern}");
        }
    }
}
