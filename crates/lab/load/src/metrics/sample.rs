//! Single samples, for outputs that keep more of a run than its totals.
//!
//! A [`MetricSet`](super::MetricSet) forgets single samples at once. An output (a file, a database) makes a
//! [`sample_queue`] and gives its sender to the run. Each worker then gathers its samples in batches and offers each
//! full one, and once a second the current one, to all queues. A worker never waits for a queue: a batch that does not
//! fit is dropped and counted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::SystemTime,
};

use tokio::sync::mpsc;

use super::{MetricId, Registry, Tags};

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metric. Never a sub-metric: readers select by tags themselves.
    pub metric: MetricId,
    /// The time of the sample. Within one worker times never go back, even if the system's clock is set.
    pub time: SystemTime,
    /// What was added to a counter; the value of a gauge; 1 or 0 for a rate; milliseconds, bytes or a plain number
    /// for a trend.
    pub value: f64,
    /// The tags. Samples of one handle share them.
    pub tags: Arc<Tags>,
}

/// Samples of one worker, in the order of time.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What their metrics are.
    pub registry: Arc<Registry>,
    /// The samples, [`BATCH_SIZE`] at most.
    pub samples: Vec<Sample>,
}

/// Samples that a worker gathers before it offers them. Reason: 40 KiB, so that neither the queue nor the worker's
/// memory dominates the cost of recording.
pub const BATCH_SIZE: usize = 1_024;

/// Batches that may wait in one queue. Reason: half a million samples in 20 MiB (and their tags), which is about a
/// second of the fastest run on two cores.
pub const QUEUE_CAPACITY: usize = 512;

/// What goes through a queue.
#[derive(Debug)]
enum Parcel {
    Samples(Arc<Batch>),
    End,
}

/// A queue for samples of a run: [`QUEUE_CAPACITY`] batches; further ones are dropped and counted.
pub fn sample_queue() -> (SampleSender, SampleReceiver) {
    let (sender, receiver) = mpsc::channel(QUEUE_CAPACITY);
    let n_dropped = Arc::new(AtomicU64::new(0));
    let sender = SampleSender {
        parcels: sender,
        n_dropped: Arc::clone(&n_dropped),
    };
    let receiver = SampleReceiver {
        parcels: receiver,
        n_dropped,
    };
    (sender, receiver)
}

/// The run's end of a queue. Clones fill the same queue.
#[derive(Clone, Debug)]
pub struct SampleSender {
    parcels: mpsc::Sender<Parcel>,
    n_dropped: Arc<AtomicU64>,
}

impl SampleSender {
    /// Puts the batch into the queue, or counts its samples as dropped.
    pub fn offer(&self, batch: &Arc<Batch>) {
        if self.parcels.try_send(Parcel::Samples(Arc::clone(batch))).is_err() {
            self.n_dropped.fetch_add(batch.samples.len() as u64, Relaxed);
        }
    }

    /// Counts samples that were lost on their way to the queue.
    pub fn lose(&self, n: u64) {
        self.n_dropped.fetch_add(n, Relaxed);
    }

    /// Ends the queue after its contents, even while clones exist. Waits for a place.
    pub async fn end(&self) {
        // Without a receiver there is nothing to end.
        drop(self.parcels.send(Parcel::End).await);
    }
}

/// The other end of a queue.
#[derive(Debug)]
pub struct SampleReceiver {
    parcels: mpsc::Receiver<Parcel>,
    n_dropped: Arc<AtomicU64>,
}

impl SampleReceiver {
    /// The next batch; `None` after the end. Cancel safe.
    pub async fn recv(&mut self) -> Option<Arc<Batch>> {
        let parcel = self.parcels.recv().await;
        self.open(parcel)
    }

    /// Like [`Self::recv`], for a thread without an event loop.
    pub fn blocking_recv(&mut self) -> Option<Arc<Batch>> {
        let parcel = self.parcels.blocking_recv();
        self.open(parcel)
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.parcels.is_empty()
    }

    /// Samples that did not fit so far.
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped.load(Relaxed)
    }

    fn open(&mut self, parcel: Option<Parcel>) -> Option<Arc<Batch>> {
        match parcel? {
            Parcel::Samples(batch) => Some(batch),
            Parcel::End => {
                self.parcels.close();
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
