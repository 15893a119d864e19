//! Keeping the certificate of a running server fresh.

use std::time::Duration;

use plimsoll_server::{CertificateError, Tls};
use tokio::time::MissedTickBehavior;

/// Time between two looks at the files. A change is taken after two of them; both files are a few kilobytes.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// Reads the files again when they change; runs as long as the runtime.
pub(super) fn keep_fresh(tls: Tls) {
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::spawn(async move {
        loop {
            looks.tick().await;
            off_the_runtime(&tls, Tls::look_for_change).await;
        }
    });
}

/// Reads the files now, changed or not.
pub(super) async fn read_again(tls: &Tls) {
    off_the_runtime(tls, |tls| tls.reload().map(|()| true)).await;
}

/// Reads outside of the runtime: files may be on a slow disk, and this thread has signals to handle.
async fn off_the_runtime(tls: &Tls, read: fn(&Tls) -> Result<bool, CertificateError>) {
    let tls = tls.clone();
    // An error says that the runtime is going down.
    if let Ok(outcome) = tokio::task::spawn_blocking(move || read(&tls)).await {
        log(outcome);
    }
}

fn log(outcome: Result<bool, CertificateError>) {
    match outcome {
        Ok(true) => tracing::info!("The certificate was read again; new connections use it."),
        Ok(false) => {}
        Err(error) => tracing::error!("The old certificate stays in use: {error}."),
    }
}
