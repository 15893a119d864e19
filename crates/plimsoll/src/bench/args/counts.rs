//! Numbers on the command line of a bench: counts and sizes.

/// The most padding that makes sense: more than any server accepts, and less than hurts this machine.
const MAX_PADDING_BYTES: usize = 16 << 20;

/// Bytes of padding.
pub(super) fn padding(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n <= MAX_PADDING_BYTES => Ok(n),
        _ => Err(format!("expected a number of bytes up to {MAX_PADDING_BYTES}")),
    }
}

/// A count that makes sense only from 1 on.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}
