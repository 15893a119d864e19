//! Single samples on their way to a server: the thread that hands on batch by batch, for every server that takes samples
//! and not figures.

use plimsoll_load::metrics::{Batch, SampleReceiver};

use crate::Outcome;

/// A server that takes single samples.
pub(crate) trait Receiver {
    /// Hands on the samples of a batch, and gives the number of those that it can represent.
    ///
    /// # Errors
    /// For people: why the server did not take them. They count as lost, and the next batch is tried again.
    async fn take(&mut self, batch: &Batch) -> Result<u64, String>;
}

/// Hands on batches until the queue ends. While the server is busy with one, others wait in the queue, which drops and
/// counts what does not fit.
pub(crate) async fn pass_on(mut receiver: SampleReceiver, mut server: impl Receiver) -> Outcome {
    let mut outcome = Outcome::default();
    while let Some(batch) = receiver.recv().await {
        let n_samples = batch.samples.len() as u64;
        match server.take(&batch).await {
            Ok(n_taken) => {
                outcome.n_written += n_taken;
                outcome.n_failed += n_samples - n_taken;
            }
            Err(reason) => {
                outcome.n_failed += n_samples;
                if outcome.error.as_ref() != Some(&reason) {
                    tracing::error!(reason, "An output cannot write. The run goes on.");
                }
                outcome.error = Some(reason);
            }
        }
    }
    outcome.n_dropped = receiver.n_dropped();
    outcome
}
