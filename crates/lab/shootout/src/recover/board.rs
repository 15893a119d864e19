//! What has been published, for all threads: the last number of each stream, and the numbers that may never
//! have been published.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
};

use super::ranges::Ranges;

/// The published messages of one stream.
#[derive(Debug, Default)]
struct Stream {
    /// The number of the last message whose broadcast has begun.
    n_begun: AtomicU64,
    /// All numbers up to this one are published or uncertain.
    n_settled: AtomicU64,
    uncertain: Mutex<Ranges>,
}

/// The published messages of all streams, and how many clients have them.
#[derive(Debug)]
pub(crate) struct Board {
    streams: Vec<Stream>,
    /// Clients that are ready or have failed to become so.
    pub(crate) n_begun: AtomicUsize,
    /// Clients that became ready, without those beside the others.
    pub(crate) n_ready: AtomicUsize,
    /// Clients that are connected now.
    pub(crate) n_connected: AtomicUsize,
    /// Clients that have got everything after the last broadcast, or are out of the run.
    pub(crate) n_complete: AtomicUsize,
    /// Messages that clients have got.
    pub(crate) n_arrived: AtomicU64,
    /// Returns of clients that are not beside the others, after which the client had all messages.
    pub(crate) n_whole: AtomicUsize,
}

impl Board {
    /// The board of so many streams.
    pub(crate) fn new(n_streams: usize) -> Self {
        Self {
            streams: (0..n_streams).map(|_| Stream::default()).collect(),
            n_begun: AtomicUsize::new(0),
            n_ready: AtomicUsize::new(0),
            n_connected: AtomicUsize::new(0),
            n_complete: AtomicUsize::new(0),
            n_arrived: AtomicU64::new(0),
            n_whole: AtomicUsize::new(0),
        }
    }

    /// The broadcast of this number begins.
    pub(crate) fn begin(&self, stream: usize, number: u64) {
        self.streams[stream].n_begun.store(number, SeqCst);
    }

    /// The number of the last message of a stream whose broadcast has begun. All later ones begin after this call.
    pub(crate) fn begun(&self, stream: usize) -> u64 {
        self.streams[stream].n_begun.load(SeqCst)
    }

    /// The broadcast of this number was answered. A number without an acknowledgement is uncertain.
    pub(crate) fn settle(&self, stream: usize, number: u64, is_published: bool) {
        let stream = &self.streams[stream];
        if !is_published {
            let mut uncertain = stream.uncertain.lock().unwrap_or_else(PoisonError::into_inner);
            uncertain.insert(number);
        }
        stream.n_settled.store(number, SeqCst);
    }

    /// The last number of a stream that was answered, and the uncertain numbers.
    pub(crate) fn settled(&self, stream: usize) -> (u64, Ranges) {
        let stream = &self.streams[stream];
        let last = stream.n_settled.load(SeqCst);
        let uncertain = stream.uncertain.lock().unwrap_or_else(PoisonError::into_inner);
        (last, uncertain.clone())
    }
}
