//! k6's limits and defaults for all executors.

use std::time::Duration;

/// k6's default for graceful periods.
pub const GRACE: Duration = Duration::from_secs(30);

/// k6's limit for the number of virtual users.
pub const MAX_VUS: u32 = 100_000_000;
