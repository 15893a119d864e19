//! The planned activity of one virtual user.

use std::time::Duration;

/// A period in which one virtual user is planned to be active. All times count from the absolute start of the run, so a
/// late start of one iteration never moves later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From here on the virtual user begins iterations.
    pub start: Duration,
    /// From here on the user begins no further iteration; the current one may finish.
    pub stop: Duration,
    /// An iteration of this window that still runs now is interrupted. If the virtual user is planned again before its
    /// grace has passed, the iteration may continue into the next window and gets its grace.
    pub interrupt: Duration,
}
