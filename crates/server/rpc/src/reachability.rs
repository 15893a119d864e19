//! Checks whether the application can be reached, also while there are no calls. Otherwise a server that becomes ready
//! only with its application would wait for a first call forever.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};

use crate::calls::Calls;

/// No check is made if a call has shown the state within this time. Calls count for more than a connection, because a
/// proxy may accept connections for an application that is away.
const FRESH: Duration = Duration::from_secs(5);
/// The time between checks while the application is away.
const RETRY: Duration = Duration::from_secs(1);
/// How long a connection may take, including TLS.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes a connection whenever there was no call for a while. Ends with the runtime.
pub(crate) async fn watch(calls: Arc<Calls>) {
    loop {
        let mut pause = FRESH;
        if !calls.journal.knows_since(FRESH) {
            let probed = timeout(PATIENCE, calls.transport.probe()).await;
            match probed.unwrap_or_else(|_| Err(format!("no connection within {} s", PATIENCE.as_secs()))) {
                Ok(()) => calls.journal.connected(&calls.rules.meter.dependency),
                Err(reason) => {
                    calls.rules.meter.dependency.down(reason);
                    pause = RETRY;
                }
            }
        }
        sleep(pause).await;
    }
}
