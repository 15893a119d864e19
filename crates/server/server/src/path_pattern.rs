//! Paths with placeholders, on which cable clients connect.

use std::{fmt, str::FromStr};

/// A path pattern: `/cable`, `/{tenant}/cable`, `/ws/*`.
///
/// A segment in braces matches any one segment that is not empty. A star as the last segment matches any number of
/// segments: `/ws/*` matches `/ws/`, `/ws/a` and `/ws/a/b`, but not `/ws`. Everything else is compared byte by byte
/// with the undecoded path of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    text: String,
    segments: Vec<Segment>,
    /// Whether more segments may follow.
    is_open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(String),
    Placeholder,
}

/// Why a text is not a path pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathPatternError {
    /// The pattern does not begin with a slash.
    #[error("a path must begin with a slash, for example /cable")]
    NotAbsolute,
    /// A star is not last, or not alone in its segment.
    #[error(
        "a star must be the last segment and stand alone, for example /ws/*; for one segment, use a placeholder, for \
         example /{{tenant}}/cable"
    )]
    Star,
    /// Braces are unbalanced, empty, or not alone in their segment.
    #[error("a placeholder must be a whole segment, for example /{{tenant}}/cable")]
    Placeholder,
}

impl PathPattern {
    /// Whether the pattern matches the path of a request.
    pub fn matches(&self, path: &str) -> bool {
        let Some(path) = path.strip_prefix('/') else {
            return false;
        };
        let mut given = path.split('/');
        let all_match = self
            .segments
            .iter()
            .all(|segment| given.next().is_some_and(|given| segment.matches(given)));
        // A star matches at least the slash before it, so one segment, even an empty one, must be left.
        all_match && given.next().is_some() == self.is_open
    }
}

impl Segment {
    fn matches(&self, given: &str) -> bool {
        match self {
            Self::Literal(text) => text == given,
            Self::Placeholder => !given.is_empty(),
        }
    }
}

impl FromStr for PathPattern {
    type Err = PathPatternError;

    fn from_str(text: &str) -> Result<Self, PathPatternError> {
        let path = text.strip_prefix('/').ok_or(PathPatternError::NotAbsolute)?;
        let (path, is_open) = match path.strip_suffix('*') {
            Some("") => (None, true),
            Some(before) => (
                Some(before.strip_suffix('/').ok_or(PathPatternError::Star)?),
                true,
            ),
            None => (Some(path), false),
        };
        let segments = path.into_iter().flat_map(|path| path.split('/'));
        Ok(Self {
            text: text.to_owned(),
            segments: segments.map(str::parse).collect::<Result<_, _>>()?,
            is_open,
        })
    }
}

impl FromStr for Segment {
    type Err = PathPatternError;

    fn from_str(text: &str) -> Result<Self, PathPatternError> {
        if text.contains('*') {
            return Err(PathPatternError::Star);
        }
        let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        match name {
            None if text.contains(['{', '}']) => Err(PathPatternError::Placeholder),
            None => Ok(Self::Literal(text.to_owned())),
            Some(name) if name.is_empty() || name.contains(['{', '}']) => Err(PathPatternError::Placeholder),
            Some(_) => Ok(Self::Placeholder),
        }
    }
}

/// The pattern as it was written.
impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        let pattern: PathPattern = pattern.parse().expect(pattern);
        assert_eq!(pattern.matches(path), expected, "{pattern} {path}");
    }

    #[test]
    fn a_plain_path_is_itself() {
        check("/cable", "/cable", true);
        check("/cable", "/cable/", false);
        check("/cable", "/Cable", false);
        check("/cable", "/cable/x", false);
        check("/cable", "/", false);
        check("/cable", "", false);
        check("/cable", "cable", false);
        check("/a/b", "/a/b", true);
        check("/a/b", "/a", false);
        check("/", "/", true);
        check("/", "/x", false);
    }

    #[test]
    fn a_placeholder_is_one_segment() {
        check("/{tenant}/cable", "/acme/cable", true);
        check("/{tenant}/cable", "/a%20b/cable", true);
        check("/{tenant}/cable", "//cable", false);
        check("/{tenant}/cable", "/cable", false);
        check("/{tenant}/cable", "/a/b/cable", false);
        check("/{tenant}/cable", "/acme/cable/", false);
        check("/ws/{room}", "/ws/7", true);
        check("/ws/{room}", "/ws/", false);
        check("/{a}/{b}", "/1/2", true);
    }

    #[test]
    fn a_star_is_everything_behind_its_slash() {
        check("/ws/*", "/ws/a", true);
        check("/ws/*", "/ws/a/b", true);
        check("/ws/*", "/ws/", true);
        check("/ws/*", "/ws", false);
        check("/ws/*", "/wsx", false);
        check("/*", "/", true);
        check("/*", "/a/b", true);
        check("/{tenant}/ws/*", "/acme/ws/1/2", true);
        check("/{tenant}/ws/*", "/acme/xx/1/2", false);
    }

    #[track_caller]
    fn check_fault(text: &str, expected: PathPatternError) {
        assert_eq!(text.parse::<PathPattern>(), Err(expected), "{text}");
    }

    #[test]
    fn faults_are_named() {
        check_fault("", PathPatternError::NotAbsolute);
        check_fault("cable", PathPatternError::NotAbsolute);
        for text in ["/a*", "/a/*/b", "/**", "/*/a", "/{a*}"] {
            check_fault(text, PathPatternError::Star);
        }
        for text in ["/{}", "/{a", "/a}", "/x{a}", "/{a}{b}"] {
            check_fault(text, PathPatternError::Placeholder);
        }
    }
}
