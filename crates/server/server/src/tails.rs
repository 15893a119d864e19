//! Readers that wait for the next message of a stream: those of Durable Streams, which no hub knows.
//!
//! A message of a stream without such a reader costs one look at an atomic number.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::watch;

/// The waiting readers of all streams.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    n_streams: AtomicUsize,
    /// Clients choose the names, so this map's hashes have a random key (ARCHITECTURE, "Hash tables").
    by_stream: Mutex<HashMap<Arc<str>, watch::Sender<()>>>,
}

/// One reader's interest in a stream. Its drop ends it.
#[derive(Debug)]
pub(crate) struct Tail {
    tails: Arc<Tails>,
    stream: Arc<str>,
    /// `None` only while it is dropped.
    news: Option<watch::Receiver<()>>,
}

impl Tails {
    /// Begins to watch a stream. A reader does so before it looks for messages, so it misses none.
    pub(crate) fn watch(self: &Arc<Self>, stream: &str) -> Tail {
        let mut by_stream = self.lock();
        let name = match by_stream.get_key_value(stream) {
            Some((name, _)) => Arc::clone(name),
            None => stream.into(),
        };
        let sender = by_stream
            .entry(Arc::clone(&name))
            .or_insert_with(|| watch::channel(()).0);
        let news = Some(sender.subscribe());
        self.n_streams.store(by_stream.len(), Ordering::SeqCst);
        Tail {
            tails: Arc::clone(self),
            stream: name,
            news,
        }
    }

    /// Wakes all readers of a stream, because it has another message.
    pub(crate) fn wake(&self, stream: &str) {
        if self.n_streams.load(Ordering::SeqCst) == 0 {
            return;
        }
        if let Some(sender) = self.lock().get(stream) {
            sender.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, watch::Sender<()>>> {
        // A panic under the lock is a bug in this file; the other readers go on.
        self.by_stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tail {
    /// Completes when the stream got a message since the reader began to watch, or since this completed last.
    pub(crate) async fn changed(&mut self) {
        if let Some(news) = &mut self.news {
            // The sender is there as long as a receiver is.
            let _changed = news.changed().await;
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let mut by_stream = self.tails.lock();
        self.news = None;
        let is_last = by_stream
            .get(&self.stream)
            .is_some_and(|sender| sender.receiver_count() == 0);
        if is_last {
            by_stream.remove(&self.stream);
            if by_stream.len() * 4 < by_stream.capacity() {
                let n_streams = by_stream.len();
                by_stream.shrink_to(n_streams * 2);
            }
        }
        self.tails.n_streams.store(by_stream.len(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    async fn is_woken(tail: &mut Tail) -> bool {
        let mut changed = pin!(tail.changed());
        tokio::select! {
            biased;
            () = changed.as_mut() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn readers_of_a_stream_are_woken_once_and_no_others() {
        let tails = Arc::new(Tails::default());
        tails.wake("a");
        let (mut first, mut second, mut other) = (tails.watch("a"), tails.watch("a"), tails.watch("b"));
        assert!(!is_woken(&mut first).await);
        tails.wake("a");
        tails.wake("a");
        assert!(is_woken(&mut first).await && is_woken(&mut second).await);
        assert!(!is_woken(&mut first).await && !is_woken(&mut other).await);
        drop(first);
        tails.wake("a");
        assert!(is_woken(&mut second).await);
        drop((second, other));
        assert!(tails.lock().is_empty());
        assert_eq!(tails.n_streams.load(Ordering::SeqCst), 0);
    }
}
