//! How much of a stream is kept.

use std::time::Duration;

use crate::Pattern;

/// How much of one stream is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The most messages.
    pub limit: usize,
    /// The greatest age of a message.
    pub ttl: Duration,
}

/// How much of each stream is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retentions {
    /// For streams whose name no pattern matches.
    pub default: Retention,
    /// For streams whose name matches the pattern; the first match counts.
    pub by_pattern: Vec<(Pattern, Retention)>,
}

impl Retentions {
    /// How much of the stream with this name is kept.
    pub fn of(&self, stream: &str) -> Retention {
        let found = self
            .by_pattern
            .iter()
            .find(|(pattern, _)| pattern.matches(stream));
        found.map_or(self.default, |(_, retention)| *retention)
    }
}
