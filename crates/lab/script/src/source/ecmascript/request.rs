//! One import of a module.

use crate::source::{ImportedName, Location};

/// A specifier that a source names.
#[derive(Debug)]
pub(in crate::source) struct Request {
    pub(in crate::source) written: String,
    pub(in crate::source) location: Location,
    pub(in crate::source) names: Vec<ImportedName>,
    /// Whether the source gets an object with all exports, or exports all of them itself.
    pub(in crate::source) is_namespace: bool,
    /// `require`, which may never run.
    pub(in crate::source) is_require: bool,
    /// Whether the source handles its failure: it stands in `try … catch`.
    pub(in crate::source) is_guarded: bool,
}
