//! Headings of the help that flags in several files stand under.

/// The flags about where broadcasts come from.
pub(super) const BROADCASTING: &str = "Broadcasting";
