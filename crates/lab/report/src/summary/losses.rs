//! How many messages arrived, and how many did not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Exact counts of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Losses {
    /// Messages that should have arrived.
    pub expected: u64,
    /// Messages that arrived, each counted once.
    pub received: u64,
    /// Messages that did not arrive.
    pub lost: u64,
    /// Messages that arrived once more than they should.
    pub duplicated: u64,
    /// Messages that arrived after a later one.
    pub out_of_order: u64,
}
