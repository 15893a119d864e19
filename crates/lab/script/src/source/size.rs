//! How long a module may be.

/// The longest source of a module. Bundles with all their libraries have a few megabytes; parsing needs a multiple.
pub const MAX_SOURCE_BYTES: usize = 16 * 1024 * 1024;
