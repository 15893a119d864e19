//! When one virtual user is planned to be active.

use std::time::Duration;

/// A stretch of time in which one virtual user is planned to be active. All times count from the absolute start
/// of the run, so a late start of one iteration never moves what comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From here on the virtual user begins iterations.
    pub start: Duration,
    /// From here on it begins no further iteration; the current one may finish.
    pub stop: Duration,
    /// An iteration of this window that still runs now is interrupted. When the virtual user is planned again
    /// before its grace has passed, the iteration may run on into the next window and has that one's grace.
    pub interrupt: Duration,
}
