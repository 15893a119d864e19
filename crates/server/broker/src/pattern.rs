//! Patterns for names of streams.

use std::{fmt, str::FromStr};

/// A name, or the beginning of names when it ends with `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: Box<str>,
    is_prefix: bool,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The text is empty.
    #[error("the pattern is empty; expected the name of a stream, or its beginning and a star: chat/*")]
    Empty,
    /// A star that is not the last character.
    #[error("{0:?} has a star that is not its last character; expected a pattern such as chat/*")]
    InnerStar(Box<str>),
}

impl Pattern {
    /// Whether a stream's name matches.
    pub fn matches(&self, stream: &str) -> bool {
        if self.is_prefix {
            stream.starts_with(&*self.text)
        } else {
            stream == &*self.text
        }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let (name, is_prefix) = match text.strip_suffix('*') {
            Some(beginning) => (beginning, true),
            None => (text, false),
        };
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if name.contains('*') {
            return Err(PatternError::InnerStar(text.into()));
        }
        Ok(Self {
            text: name.into(),
            is_prefix,
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        f.write_str(if self.is_prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, stream: &str, expected: bool) {
        let pattern: Pattern = pattern.parse().expect(pattern);
        assert_eq!(pattern.matches(stream), expected, "{pattern} {stream}");
    }

    #[test]
    fn a_star_matches_any_rest() {
        check("chat", "chat", true);
        check("chat", "chat/1", false);
        check("chat/*", "chat/1", true);
        check("chat/*", "chat/", true);
        check("chat/*", "chat", false);
        check("*", "anything", true);
    }

    #[test]
    fn a_star_is_the_last_character() {
        assert_eq!("".parse::<Pattern>(), Err(PatternError::Empty));
        for text in ["*/1", "a*b", "**"] {
            assert_eq!(text.parse::<Pattern>(), Err(PatternError::InnerStar(text.into())));
        }
        assert_eq!("chat/*".parse::<Pattern>().unwrap().to_string(), "chat/*");
    }
}
