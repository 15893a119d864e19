//! The flags of `plimsoll serve` about who may connect.

use clap::Args;
use plimsoll_server::AllowedOrigins;

/// Who may connect.
#[derive(Debug, Args)]
#[group(id = "listener")]
pub(super) struct ListenerOptions {
    /// Hosts whose pages may connect; several with commas, *.example.com for all that end so. Default: all.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "HOSTS")]
    pub(super) allowed_origins: AllowedOrigins,
}
