//! The location of a set of keys.

use std::{borrow::Cow, fmt, path::PathBuf, str::FromStr};

use http::Uri;

/// A file, or a URL that is requested with GET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path, used unchanged.
    File(PathBuf),
    /// `http://` or `https://`.
    Url(Uri),
}

/// Why a text that begins like a URL is not a valid location.
#[derive(Debug, thiserror::Error)]
pub enum LocationError {
    /// The text is not a URL.
    #[error("{0}; expected something like https://id.example/.well-known/jwks.json")]
    Url(#[from] http::uri::InvalidUri),
    /// The URL has a password. It would be shown in the log, and would not be sent.
    #[error(
        "a user and a password are never sent, because public keys need none; remove the part before the @"
    )]
    Credentials,
}

impl FromStr for Location {
    type Err = LocationError;

    /// Parses a location. A text with `http://` or `https://` is a URL, any other is a path.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.starts_with("http://") && !text.starts_with("https://") {
            return Ok(Self::File(text.into()));
        }
        match plimsoll_redacted::url(text) {
            Cow::Owned(_) => Err(LocationError::Credentials),
            Cow::Borrowed(text) => Ok(Self::Url(text.parse()?)),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A mistyped URL may have been parsed as a path.
            Self::File(path) => f.write_str(&plimsoll_redacted::url_with_query(&path.to_string_lossy())),
            Self::Url(uri) => f.write_str(&plimsoll_redacted::url_with_query(&uri.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        for (text, is_file) in [
            ("/etc/jwks.json", true),
            ("jwks.json", true),
            ("http://localhost:9000/jwks", false),
            ("https://id.example/jwks?tenant=7", false),
        ] {
            let location: Location = text.parse().expect("a location");
            assert_eq!(matches!(location, Location::File(_)), is_file, "{text}");
            assert_eq!(location.to_string(), text);
        }
        let mistyped: Location = "htps://me:pass@id.example/jwks".parse().expect("a path");
        assert_eq!(mistyped.to_string(), "htps://***@id.example/jwks");
        let with_token: Location = "https://id.example/jwks?token=s3cret".parse().expect("a URL");
        assert_eq!(with_token.to_string(), "https://id.example/jwks?token=***");
        for (text, expected) in [
            ("http://id example/", "; expected something like https://"),
            (
                "https://me:pass/word@id.example/jwks",
                "remove the part before the @",
            ),
            (
                "https://me:password@id.example/jwks",
                "remove the part before the @",
            ),
        ] {
            let error = text.parse::<Location>().expect_err("of no use").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
