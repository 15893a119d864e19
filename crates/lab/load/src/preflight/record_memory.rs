//! Will the records of single messages fit into memory? Asked before a run whose account of each message is exact.

use super::{Memory, user_memory::readable};

/// The records of single messages that a run keeps to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The number of messages.
    pub n_messages: u64,
    /// The memory of all records together, in bytes.
    pub bytes: u64,
}

/// The memory for records, and the available memory, which is too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the exact account of {} messages needs up to {} of memory, and {} are available",
    .records.n_messages, readable(.records.bytes), readable(*.available_bytes)
)]
pub struct RecordNeed {
    /// The records.
    pub records: Records,
    /// The available memory, in bytes.
    pub available_bytes: u64,
}

impl Records {
    /// Compares the records with the available memory.
    ///
    /// # Errors
    /// They need more than is available.
    pub fn check(self, memory: &Memory) -> Result<(), RecordNeed> {
        let available_bytes = memory.available_bytes;
        if self.bytes <= available_bytes {
            return Ok(());
        }
        Err(RecordNeed {
            records: self,
            available_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_compared_with_the_memory_that_is_left() {
        let check = |n_messages, bytes| {
            let memory = Memory {
                total_bytes: u64::MAX,
                available_bytes: 2_000_000_000,
            };
            let found = Records { n_messages, bytes }.check(&memory);
            found.map_err(|need| need.to_string())
        };
        assert_eq!(check(20, 4_000), Ok(()));
        assert_eq!(check(8_000_000, 2_000_000_000), Ok(()));
        assert_eq!(
            check(100_000_000, 24_000_000_000).unwrap_err(),
            "the exact account of 100000000 messages needs up to 24.0 GB of memory, and 2.0 GB are available"
        );
    }
}
