//! Paths of the server's URLs, as flags.

/// Reads a path that begins with a slash.
///
/// # Errors
/// What was expected.
pub(super) fn absolute_path(text: &str) -> Result<String, String> {
    if text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err(format!("a path must begin with a slash, for example /{text}"))
    }
}
