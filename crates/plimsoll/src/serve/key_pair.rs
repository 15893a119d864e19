//! A certificate and its private key: two settings that need each other.
//!
//! On a command line clap says so. A variable or a key in a file may come alone, and a server that then went on
//! without TLS would send in the clear what it was told to encrypt.

use std::path::PathBuf;

use crate::exit::Failure;

/// One of the two: its flag, and its value if there is one.
type Part<'a> = (&'static str, &'a Option<PathBuf>);

/// Both paths, or `None`.
///
/// # Errors
/// There is only one of them.
pub(super) fn key_pair(certificate: Part<'_>, key: Part<'_>) -> Result<Option<(PathBuf, PathBuf)>, Failure> {
    match (certificate, key) {
        ((_, Some(certificate)), (_, Some(key))) => Ok(Some((certificate.clone(), key.clone()))),
        ((_, None), (_, None)) => Ok(None),
        ((given, Some(_)), (missing, None)) | ((missing, None), (given, Some(_))) => Err(Failure::Usage(
            format!("--{given} needs --{missing}: a certificate and its private key are given together"),
        )),
    }
}
