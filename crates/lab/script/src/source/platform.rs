//! The program that a source was written for.

/// Whose modules a source finds, and by whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// k6: modules are files or URLs, and all are known before the run.
    K6,
    /// Node: modules may be packages, and a name may leave an extension out.
    Node,
}
