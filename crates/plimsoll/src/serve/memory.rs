//! Limits of the memory that clients and publishers can make the server use.

use clap::{Args, builder::RangedU64ValueParser};
use plimsoll_load::preflight::Memory;

/// The assumed memory of a machine whose memory is unknown: a gigabyte.
const UNKNOWN_MEMORY: u64 = 1 << 30;

/// The defaults in any case, in bytes: a few slow clients, and a few bodies of the largest size.
const MIN_PENDING: u64 = 16 << 20;
const MIN_BODIES: u64 = 8 << 20;

/// The largest default limit of request bodies in bytes. Reason: more concurrent bodies do not help.
const MAX_BODIES: u64 = 256 << 20;

/// The flags.
#[derive(Debug, Args)]
pub(super) struct MemoryOptions {
    /// Largest memory of all unsent messages together, in bytes; each thread has an equal part. Above it the clients
    /// with the most memory are disconnected. Default: a quarter of the memory.
    #[arg(long, value_name = "BYTES", value_parser = at_least::<{ 1 << 20 }>())]
    max_pending_total: Option<usize>,
    /// Largest memory of all request bodies together, in bytes; further requests are answered 503. Accepted
    /// broadcasts on their way to clients may take the same amount again. Default: a 32nd of the memory, 8 to 256
    /// MiB.
    #[arg(long, value_name = "BYTES", value_parser = at_least::<{ 1 << 16 }>())]
    max_body_total: Option<usize>,
}

fn at_least<const MIN: u64>() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(MIN..)
}

/// The limits, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) pending: usize,
    pub(super) bodies: usize,
}

impl MemoryOptions {
    /// The limits. Their defaults follow from the memory of the machine, of the container, or of `ulimit -v`.
    pub(super) fn totals(&self, memory: &Memory) -> Totals {
        let bodies = || share(memory, 32, MIN_BODIES).min(MAX_BODIES as usize);
        Totals {
            pending: self
                .max_pending_total
                .unwrap_or_else(|| share(memory, 4, MIN_PENDING)),
            bodies: self.max_body_total.unwrap_or_else(bodies),
        }
    }
}

/// The `part`th of the memory, in bytes; at least `min`.
pub(super) fn share(memory: &Memory, part: u64, min: u64) -> usize {
    let total = match memory.total_bytes {
        u64::MAX => UNKNOWN_MEMORY,
        known => known,
    };
    usize::try_from((total / part).max(min)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(total_bytes: u64, expected_mb: (usize, usize)) {
        let memory = Memory {
            total_bytes,
            available_bytes: 0,
        };
        let options = MemoryOptions {
            max_pending_total: None,
            max_body_total: None,
        };
        let Totals { pending, bodies } = options.totals(&memory);
        assert_eq!((pending >> 20, bodies >> 20), expected_mb);
    }

    #[test]
    fn defaults_follow_from_the_memory() {
        check(4 << 30, (1024, 128));
        check(64 << 30, (16_384, 256));
        check(512 << 20, (128, 16));
        check(32 << 20, (16, 8));
        check(u64::MAX, (256, 32));
    }

    #[test]
    fn what_is_said_counts() {
        let options = MemoryOptions {
            max_pending_total: Some(5),
            max_body_total: Some(6),
        };
        let memory = Memory {
            total_bytes: 4 << 30,
            available_bytes: 0,
        };
        let expected = Totals {
            pending: 5,
            bodies: 6,
        };
        assert_eq!(options.totals(&memory), expected);
    }
}
