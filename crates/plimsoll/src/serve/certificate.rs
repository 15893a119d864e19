//! Keeping the certificate of a running server fresh.

use std::{io, time::Duration};

use plimsoll_server::{CertificateError, Tls};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::MissedTickBehavior,
};

/// Time between two looks at the files. A change is taken after two of them; both files are a few kilobytes.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// Reads the files again on SIGHUP, and when they change; runs as long as the runtime.
///
/// # Errors
/// When the signal cannot be handled.
pub(super) fn keep_fresh(tls: Tls) -> io::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::spawn(async move {
        loop {
            let reads_now = tokio::select! {
                Some(()) = hangup.recv() => true,
                _ = looks.tick() => false,
            };
            let tls = tls.clone();
            let looked = tokio::task::spawn_blocking(move || match reads_now {
                true => tls.reload().map(|()| true),
                false => tls.look_for_change(),
            });
            // An error says that the runtime is going down.
            if let Ok(outcome) = looked.await {
                log(outcome);
            }
        }
    });
    Ok(())
}

fn log(outcome: Result<bool, CertificateError>) {
    match outcome {
        Ok(true) => tracing::info!("The certificate was read again; new connections get it."),
        Ok(false) => {}
        Err(error) => tracing::error!("The certificate stays as it was: {error}."),
    }
}
