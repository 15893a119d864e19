//! The bytes on the wire during a case, in bounded memory.

use std::{
    collections::VecDeque,
    fmt::{self, Display, Write},
};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The number of kept entries at the beginning, and at the end; entries in between are dropped and counted. Reason:
/// the beginning has the handshake, and the end has the failure.
const MOST_AT_EACH_END: usize = 128;

/// Bytes of one entry. Reason: a frame's head and the first words of its payload; payloads have up to 16 MiB.
const MOST_BYTES: usize = 200;

/// The wire log of a case: at most 256 entries of 200 bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WireLog {
    first: Vec<Entry>,
    /// Entries between `first` and `last` that were dropped.
    #[serde(default, skip_serializing_if = "is_zero")]
    n_dropped: u64,
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    last: VecDeque<Entry>,
    /// The beginning of the case; `None` before the first entry, and in logs that were read from a file.
    #[serde(skip)]
    began: Began,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Seconds since the log began.
    pub at: f64,
    /// The side that acted.
    pub side: Side,
    /// The description, cut to 200 bytes.
    pub what: String,
}

/// The side that acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The tester sent it.
    Sent,
    /// The target sent it.
    Received,
    /// A line without bytes: time passed, or the tester decided something.
    Note,
}

/// Bytes in a log: their number, and the first ones as text, or in hexadecimal if they are not text.
#[derive(Clone, Copy, Debug)]
pub struct Octets<'a>(pub &'a [u8]);

/// The beginning of a log. All beginnings are equal, so that logs are compared by their content.
#[derive(Clone, Copy, Debug, Default)]
struct Began(Option<Instant>);

impl PartialEq for Began {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl WireLog {
    /// A log that counts its seconds from now.
    pub fn begin() -> Self {
        Self {
            began: Began(Some(Instant::now())),
            ..Self::default()
        }
    }

    /// The tester has sent this.
    pub fn sent(&mut self, what: impl Display) {
        self.add(Side::Sent, &what);
    }

    /// The target has sent this.
    pub fn received(&mut self, what: impl Display) {
        self.add(Side::Received, &what);
    }

    /// This happened, and is not on the wire.
    pub fn note(&mut self, what: impl Display) {
        self.add(Side::Note, &what);
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Entries from the first one on that are there without a gap.
    pub fn first(&self) -> &[Entry] {
        &self.first
    }

    /// The number of dropped entries after [`first`](Self::first).
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// Entries after those that were dropped.
    pub fn last(&self) -> impl Iterator<Item = &Entry> {
        self.last.iter()
    }

    fn add(&mut self, side: Side, what: &dyn Display) {
        let began = self.began.0.get_or_insert_with(Instant::now);
        let entry = Entry {
            at: began.elapsed().as_secs_f64(),
            side,
            what: beginning(what),
        };
        if self.first.len() < MOST_AT_EACH_END {
            self.first.push(entry);
            return;
        }
        if self.last.len() == MOST_AT_EACH_END {
            self.last.pop_front();
            self.n_dropped += 1;
        }
        self.last.push_back(entry);
    }
}

/// At most [`MOST_BYTES`] of a text, without creating the rest.
fn beginning(what: &dyn Display) -> String {
    let mut text = Beginning(String::new());
    // An error is how it says that it has enough.
    let is_cut = write!(text, "{what}").is_err();
    if is_cut {
        text.0.push('…');
    }
    text.0
}

struct Beginning(String);

impl Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = MOST_BYTES - self.0.len();
        if more.len() <= room {
            self.0.push_str(more);
            return Ok(());
        }
        self.0.push_str(&more[..more.floor_char_boundary(room)]);
        Err(fmt::Error)
    }
}

/// Bytes that are shown in hexadecimal. Reason: half a line.
const MOST_HEX: usize = 32;

impl Display for Octets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0.len();
        let noun = if n == 1 { "byte" } else { "bytes" };
        write!(f, "{n} {noun}")?;
        if n == 0 {
            return Ok(());
        }
        // No more than a log takes; a character may be cut at the end.
        let shown = &self.0[..n.min(MOST_BYTES)];
        let text = match str::from_utf8(shown) {
            Ok(text) => Some(text),
            Err(error) if error.error_len().is_none() && shown.len() < n => {
                str::from_utf8(&shown[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        };
        match text {
            Some(text) => write!(f, " {text:?}"),
            None => {
                f.write_str(" ")?;
                for byte in &self.0[..n.min(MOST_HEX)] {
                    write!(f, "{byte:02x}")?;
                }
                f.write_str(if n > MOST_HEX { "…" } else { "" })
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests;
