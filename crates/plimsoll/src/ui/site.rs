//! The pages that `plimsoll ui` serves, and their place.

use std::{net::SocketAddr, path::PathBuf};

/// The address and the data of the pages.
pub(super) struct Site {
    pub(super) address: SocketAddr,
    /// The first part of every path.
    pub(super) secret: String,
    /// The folder of saved runs.
    pub(super) folder: PathBuf,
}
