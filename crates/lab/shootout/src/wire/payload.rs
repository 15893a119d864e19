//! The JSON payload that servers pass through: `{"id":"<run>.<number>","sendTime":"<Unix ns>","padding":"1234…"}`.
//!
//! websocket-bench's fork writes the padding as an object with control-character keys, which puts more bytes on
//! the wire than `--payload-padding` says; here it is a string of exactly that many bytes, as in the original,
//! and absent when that is 0.

use std::{
    fmt,
    time::{SystemTime, UNIX_EPOCH},
};

use super::Run;

/// A payload to be written by `Display`.
pub(super) struct Payload<'a> {
    pub(super) run: Run,
    pub(super) id: u64,
    pub(super) now: SystemTime,
    pub(super) padding: &'a str,
}

impl fmt::Display for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            id,
            now,
            padding,
        } = self;
        // A clock before 1970 only affects this field, which nothing here reads back.
        let unix_ns = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        write!(f, r#"{{"id":"{run}.{id}","sendTime":"{unix_ns}""#)?;
        if !padding.is_empty() {
            write!(f, r#","padding":"{padding}""#)?;
        }
        f.write_str("}")
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.token)
    }
}

impl Run {
    /// The number in a JSON id of this run.
    pub(super) fn number(self, id: &str) -> Option<u64> {
        let (token, number) = id.split_once('.')?;
        let is_ours = u32::from_str_radix(token, 16) == Ok(self.token);
        if is_ours { number.parse().ok() } else { None }
    }
}
