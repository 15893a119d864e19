//! The flag with which secrets leave the machine of a coordinator.

use clap::Args;

/// Whether secrets leave this machine.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FleetSecrets {
    /// Send the secrets of --secret-source to all agents. They need an encrypted connection (tls://), and keep secrets in
    /// memory only.
    #[arg(long = "fleet-secrets", requires = "fleet", requires = "secret_source")]
    is_given: bool,
}

impl FleetSecrets {
    /// Whether they do.
    pub(super) fn is_given(self) -> bool {
        self.is_given
    }
}
