//! Publications that a backend has named with a key, so that a repetition of the request is not published again
//! (docs/reference/rest-api.md, Publish).

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How long a key is remembered. Reason: longer than a backend repeats a request whose answer it did not get.
pub(crate) const REMEMBERED_FOR: Duration = Duration::from_secs(300);

/// The most keys that are remembered. Beyond it the oldest is forgotten.
pub(crate) const MAX_KEYS: usize = 10_000;

/// The longest key, in bytes.
pub(crate) const MAX_KEY_BYTES: usize = 255;

/// The remembered keys.
#[derive(Debug, Default)]
pub(crate) struct Publications {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// Backends choose the keys, so the hashes have a random key (ARCHITECTURE, "Hash tables").
    by_key: HashMap<Box<str>, Known>,
    by_age: VecDeque<(Instant, u64, Box<str>)>,
    /// Makes the fingerprints of bodies.
    hasher: RandomState,
    last_number: u64,
}

#[derive(Debug)]
struct Known {
    number: u64,
    fingerprint: u64,
    is_done: bool,
}

/// The answer to a request with a key.
#[derive(Debug)]
pub(crate) enum Begin<'a> {
    /// Its first request: publish, and then call [`Pass::done`].
    First(Pass<'a>),
    /// The publication was accepted earlier.
    Done,
    /// An earlier request is still being published.
    UnderWay,
    /// The key belongs to a publication with another body.
    OtherBody,
}

/// The right to publish under a key. Dropped without [`Pass::done`], the key is free again.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    publications: &'a Publications,
    key: Box<str>,
    number: u64,
    is_done: bool,
}

impl Publications {
    /// Begins a publication of `body` under `key`.
    pub(crate) fn begin(&self, key: &str, body: &[u8]) -> Begin<'_> {
        let mut table = self.table();
        let now = Instant::now();
        table.forget_old(now);
        let fingerprint = table.hasher.hash_one(body);
        match table.by_key.get(key) {
            Some(known) if known.fingerprint != fingerprint => Begin::OtherBody,
            Some(Known { is_done: true, .. }) => Begin::Done,
            Some(_) => Begin::UnderWay,
            None => {
                let number = table.insert(key, fingerprint, now);
                Begin::First(Pass {
                    publications: self,
                    key: key.into(),
                    number,
                    is_done: false,
                })
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn insert(&mut self, key: &str, fingerprint: u64, now: Instant) -> u64 {
        if self.by_key.len() >= MAX_KEYS {
            self.forget_oldest();
        }
        self.last_number += 1;
        let known = Known {
            number: self.last_number,
            fingerprint,
            is_done: false,
        };
        self.by_key.insert(key.into(), known);
        self.by_age.push_back((now, self.last_number, key.into()));
        self.last_number
    }

    fn forget_old(&mut self, now: Instant) {
        while self
            .by_age
            .front()
            .is_some_and(|(since, ..)| now >= *since + REMEMBERED_FOR)
        {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, number, key)) = self.by_age.pop_front() {
            self.forget(&key, number);
        }
    }

    /// Forgets the key, unless it has been used anew.
    fn forget(&mut self, key: &str, number: u64) {
        if self.by_key.get(key).is_some_and(|known| known.number == number) {
            self.by_key.remove(key);
        }
    }
}

impl Pass<'_> {
    /// The publication is accepted.
    pub(crate) fn done(mut self) {
        self.is_done = true;
        if let Some(known) = self.publications.table().by_key.get_mut(&self.key)
            && known.number == self.number
        {
            known.is_done = true;
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            let mut table = self.publications.table();
            table.forget(&self.key, self.number);
            table.by_age.retain(|(_, number, _)| *number != self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(publications: &Publications, key: &str, body: &str) -> &'static str {
        match publications.begin(key, body.as_bytes()) {
            Begin::First(pass) => {
                pass.done();
                "first"
            }
            Begin::Done => "done",
            Begin::UnderWay => "under way",
            Begin::OtherBody => "other body",
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_publishes_once_for_a_while() {
        let publications = Publications::default();
        for (key, body, expected) in [
            ("a", "1", "first"),
            ("a", "1", "done"),
            ("a", "2", "other body"),
            ("b", "1", "first"),
        ] {
            assert_eq!(words(&publications, key, body), expected, "{key} {body}");
        }
        tokio::time::advance(REMEMBERED_FOR).await;
        assert_eq!(words(&publications, "a", "2"), "first");
        assert_eq!(publications.table().by_key.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_publication_that_fails_frees_its_key() {
        let publications = Publications::default();
        let pass = publications.begin("a", b"1");
        assert_eq!(words(&publications, "a", "1"), "under way");
        drop(pass);
        assert_eq!(words(&publications, "a", "2"), "first");
        assert_eq!(publications.table().by_age.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_key_makes_room() {
        let publications = Publications::default();
        (0..=MAX_KEYS).for_each(|n| {
            words(&publications, &n.to_string(), "1");
        });
        assert_eq!(publications.table().by_key.len(), MAX_KEYS);
        assert_eq!(publications.table().by_age.len(), MAX_KEYS);
        assert_eq!(words(&publications, "1", "1"), "done");
        assert_eq!(words(&publications, "0", "1"), "first");
    }
}
