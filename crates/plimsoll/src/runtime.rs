//! The runtime of a command: one thread that runs local tasks.

use tokio::runtime::{Builder, LocalOptions};

use crate::exit::Failure;

/// Runs a command to its end.
///
/// # Errors
/// Those of the command, or the system gives no event queue.
pub(crate) fn run_local<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())?;
    let outcome = runtime.block_on(command);
    // The system may still be looking for a host that an interrupted command does not need any more.
    runtime.shutdown_background();
    outcome
}
