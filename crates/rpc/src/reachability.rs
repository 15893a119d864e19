//! Whether the application can be reached, also while nobody calls it: a server that is told to be ready only when its
//! application is there would otherwise wait for a first call for ever.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use crate::calls::Calls;

/// A call in this time has shown it already.
const FRESH: Duration = Duration::from_secs(5);
/// How often it is tried while the application is away.
const RETRY: Duration = Duration::from_secs(1);

/// Makes a connection whenever there was no call for a while; ends with the runtime.
pub(crate) async fn watch(calls: Arc<Calls>) {
    loop {
        let mut pause = FRESH;
        if !calls.journal.has_contact_within(FRESH) {
            match calls.transport.probe().await {
                Ok(()) => calls.rules.meter.dependency.up(),
                Err(reason) => {
                    calls.rules.meter.dependency.down(reason);
                    pause = RETRY;
                }
            }
        }
        sleep(pause).await;
    }
}
