//! Outputs at work, each on a thread of its own.

use std::thread;

use plimsoll_load::metrics::{SampleReceiver, SampleSender, sample_queue};
use tokio::sync::oneshot;

use crate::{Outcome, OutputError, OutputReport};

/// The outputs of a run in progress.
#[derive(Debug, Default)]
pub struct Running {
    writers: Vec<Writer>,
}

#[derive(Debug)]
struct Writer {
    name: String,
    samples: SampleSender,
    outcome: oneshot::Receiver<Outcome>,
}

impl Running {
    /// The queues for the run's samples: for [`plimsoll_load::run::RunConfig::samples`].
    pub fn samples(&self) -> Vec<SampleSender> {
        self.writers.iter().map(|writer| writer.samples.clone()).collect()
    }

    /// The outputs as the user named them.
    pub fn names(&self) -> Vec<String> {
        self.writers.iter().map(|writer| writer.name.clone()).collect()
    }

    /// Writes the remaining samples and returns the results. Call it when the run is over: later samples are not
    /// written. A file may take any time; outputs over a network have their own time limits.
    pub async fn finish(self) -> OutputReport {
        for writer in &self.writers {
            writer.samples.end().await;
        }
        let mut report = OutputReport::default();
        for Writer {
            name,
            outcome,
            samples,
        } in self.writers
        {
            drop(samples);
            let outcome = outcome.await.unwrap_or_else(|_| Outcome {
                error: Some("it ended with a panic, a defect of Plimsoll".to_owned()),
                ..Outcome::default()
            });
            report.outcomes.push((name, outcome));
        }
        report
    }

    /// Starts a thread that writes samples until its queue ends.
    pub(crate) fn spawn(
        &mut self,
        name: String,
        write: impl FnOnce(SampleReceiver) -> Outcome + Send + 'static,
    ) -> Result<(), OutputError> {
        let (samples, receiver) = sample_queue();
        let (sender, outcome) = oneshot::channel();
        thread::Builder::new()
            .name("output".to_owned())
            // The receiver is gone if the run itself failed.
            .spawn(move || drop(sender.send(write(receiver))))
            .map_err(OutputError::Thread)?;
        self.writers.push(Writer {
            name,
            samples,
            outcome,
        });
        Ok(())
    }

    /// Spawns an output that needs an event loop, which is created on the output's own thread.
    pub(crate) fn spawn_async<F>(
        &mut self,
        name: String,
        write: impl FnOnce(SampleReceiver) -> F + Send + 'static,
    ) -> Result<(), OutputError>
    where
        F: Future<Output = Outcome>,
    {
        self.spawn(
            name,
            move |receiver| match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(write(receiver)),
                Err(error) => lose(receiver, format!("it has no event loop: {error}")),
            },
        )
    }
}

/// Counts all samples of the run as lost.
fn lose(mut receiver: SampleReceiver, error: String) -> Outcome {
    let mut outcome = Outcome::default();
    while let Some(batch) = receiver.blocking_recv() {
        outcome.n_failed += batch.samples.len() as u64;
    }
    outcome.n_dropped = receiver.n_dropped();
    outcome.error = Some(error);
    outcome
}
