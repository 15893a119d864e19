//! Whether the application can be reached, also while nobody calls it: a server that is told to be ready only when its
//! application is there would otherwise wait for a first call for ever.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};

use crate::calls::Calls;

/// A call in this time has shown it already. What calls show counts for more than a connection: something may take
/// connections for an application that is away.
const FRESH: Duration = Duration::from_secs(5);
/// How often it is tried while the application is away.
const RETRY: Duration = Duration::from_secs(1);
/// How long a connection may take, with TLS.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes a connection whenever there was no call for a while; ends with the runtime.
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
