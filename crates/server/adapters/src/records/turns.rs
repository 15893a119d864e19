//! Whose turn it is to take a record.
//!
//! A client that comes back may have several connections, and each asks for the same record. One after the other they put less
//! load on the store, which moreover keeps only some of the changes that were written at the same time.

use std::{
    collections::HashSet,
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// The keys of the records that this server is about to take. Clients choose them, so this set's hashes have a random key
/// (ARCHITECTURE, "Hash tables"). Each is the key of a client that waits.
#[derive(Debug, Default)]
pub(super) struct Turns {
    keys: Mutex<HashSet<Box<str>>>,
    ended: Notify,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    key: &'a str,
}

impl Turns {
    pub(super) async fn wait_for<'a>(&'a self, key: &'a str) -> Turn<'a> {
        loop {
            let mut ended = pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.keys().insert(key.into()) {
                return Turn { turns: self, key };
            }
            ended.await;
        }
    }

    fn keys(&self) -> MutexGuard<'_, HashSet<Box<str>>> {
        // A panic under the lock is a bug in this file; the other turns go on.
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut keys = self.turns.keys();
        keys.remove(self.key);
        if keys.len() * 4 < keys.capacity() {
            let n = keys.len();
            keys.shrink_to(n * 2);
        }
        drop(keys);
        self.turns.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_key_has_one_turn_at_a_time() {
        let turns = Turns::default();
        let first = turns.wait_for("k").await;
        let mut second = pin!(turns.wait_for("k"));
        assert!(second.as_mut().now_or_never().is_none());
        drop(turns.wait_for("other").await);
        assert!(second.as_mut().now_or_never().is_none());
        drop(first);
        drop(second.now_or_never().expect("it is the second one's turn"));
        assert!(turns.keys().is_empty());
    }
}
