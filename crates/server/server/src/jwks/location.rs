//! Where a set of keys is.

use std::{borrow::Cow, fmt, path::PathBuf, str::FromStr};

use http::Uri;

/// A file, or an address that is asked with GET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Read as it is.
    File(PathBuf),
    /// `http://` or `https://`.
    Url(Uri),
}

/// Why a text that begins like a URL is of no use.
#[derive(Debug, thiserror::Error)]
pub enum LocationError {
    /// It is none.
    #[error("{0}; an example is https://id.example/.well-known/jwks.json")]
    Url(#[from] http::uri::InvalidUri),
    /// A password in it would be shown in the log, and not be sent.
    #[error("a user and a password are not sent, as public keys need none; leave out what is before the @")]
    Credentials,
}

impl FromStr for Location {
    type Err = LocationError;

    /// What begins with `http://` or `https://` is a URL, anything else a path.
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
            // What was to be a URL may be taken for a path.
            Self::File(path) => f.write_str(&plimsoll_redacted::url(&path.to_string_lossy())),
            Self::Url(uri) => uri.fmt(f),
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
        for (text, expected) in [
            ("http://id example/", "; an example is https://"),
            (
                "https://me:pass/word@id.example/jwks",
                "leave out what is before the @",
            ),
            (
                "https://me:password@id.example/jwks",
                "leave out what is before the @",
            ),
        ] {
            let error = text.parse::<Location>().expect_err("of no use").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
