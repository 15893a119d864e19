//! Where a set of keys is.

use std::{fmt, path::PathBuf, str::FromStr};

use http::Uri;

/// A file, or an address that is asked with GET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Read as it is.
    File(PathBuf),
    /// `http://` or `https://`.
    Url(Uri),
}

/// Why a text is no URL although it begins like one.
#[derive(Debug, thiserror::Error)]
#[error("{0}; an example is https://id.example/.well-known/jwks.json")]
pub struct LocationError(#[from] http::uri::InvalidUri);

impl FromStr for Location {
    type Err = LocationError;

    /// What begins with `http://` or `https://` is a URL, anything else a path.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.starts_with("http://") || text.starts_with("https://") {
            true => Ok(Self::Url(text.parse()?)),
            false => Ok(Self::File(text.into())),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
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
        let error = "http://id example/"
            .parse::<Location>()
            .expect_err("no URL has spaces")
            .to_string();
        assert!(error.contains("; an example is https://"), "{error}");
    }
}
