//! SIGHUP: the server reads the certificate and the key set again, and logs that other settings need a restart. It
//! never ends because of SIGHUP.

use std::io;

use plimsoll_server::{Tls, jwks::Jwks};
use tokio::signal::unix::{SignalKind, signal};

use super::certificate;

/// The files of a running server that can be read again.
#[derive(Debug)]
pub(super) struct Rereadable {
    pub(super) tls: Option<Tls>,
    pub(super) jwks: Option<Jwks>,
}

impl Rereadable {
    /// Handles the signal from now on, for as long as the runtime lives.
    ///
    /// # Errors
    /// When the signal cannot be handled.
    pub(super) fn listen(self) -> io::Result<()> {
        let mut hangup = signal(SignalKind::hangup())?;
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                self.read_again().await;
            }
        });
        Ok(())
    }

    async fn read_again(&self) {
        tracing::info!("SIGHUP: {}. Other settings need a restart.", self.description());
        if let Some(jwks) = &self.jwks {
            jwks.read_again();
        }
        if let Some(tls) = &self.tls {
            certificate::read_again(tls).await;
        }
    }

    fn description(&self) -> &'static str {
        match (&self.tls, &self.jwks) {
            (Some(_), Some(_)) => "reading the certificate and the key set again",
            (Some(_), None) => "reading the certificate again",
            (None, Some(_)) => "reading the key set again",
            (None, None) => "there is no certificate and no key set to read again",
        }
    }
}
