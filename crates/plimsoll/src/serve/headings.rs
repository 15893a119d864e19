//! Headings in the help for flags that several files declare.

/// The heading of the flags about the sources of broadcasts.
pub(super) const BROADCASTING: &str = "Broadcasting";
