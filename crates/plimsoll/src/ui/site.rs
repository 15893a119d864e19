//! The pages that `plimsoll ui` serves, and their place.

use std::{net::SocketAddr, path::PathBuf};

/// What is served, and where.
pub(super) struct Site {
    pub(super) address: SocketAddr,
    /// The first part of every path.
    pub(super) secret: String,
    /// Where runs are kept.
    pub(super) folder: PathBuf,
}
