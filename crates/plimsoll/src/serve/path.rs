//! Paths of the server's URLs, as flags.

/// Reads a path that begins with a slash.
///
/// # Errors
/// The text does not begin with a slash.
pub(super) fn absolute_path(text: &str) -> Result<String, String> {
    if text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err(format!("a path must begin with a slash, for example /{text}"))
    }
}
