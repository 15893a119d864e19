//! The public keys that verify tokens, kept up to date while the server runs. An identity provider may change its keys
//! at any time, and the only sign of that is a token that names a new key.

use std::{sync::Arc, time::Duration};

use plimsoll_cable::token::{KeySet, KeySetError};
use plimsoll_telemetry::Dependency;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep_until, timeout},
};

mod location;
mod reader;

pub use location::{Location, LocationError};
pub use reader::ReadError;
use reader::Reader;

/// Requests that may queue while a renewal is in progress. Overflow rule: the sender waits for a place.
const CAPACITY: usize = 64;

/// The least time between renewals for unknown keys. Anyone can make a token that names an unknown key, and such tokens
/// must not cause a flood of requests to the identity provider.
const MIN_TIME_BETWEEN_REQUESTED: Duration = Duration::from_secs(10);

/// Pause after a failed renewal, unless the interval is shorter.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// How long a renewal may take. Clients whose tokens wait for it are connected but not welcomed yet.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The current keys. All clones see the same keys.
#[derive(Debug, Clone)]
pub struct Jwks {
    known: watch::Receiver<Known>,
    requests: mpsc::Sender<Request>,
}

/// A request to read the keys again.
#[derive(Debug)]
enum Request {
    /// Read again if the last reading is still this one.
    Newer {
        reading: u64,
        answer: oneshot::Sender<()>,
    },
    /// Read again in any case: the operator asks for it.
    Now,
}

/// The keys at one moment, and the number of the reading that brought them.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The keys. Empty until the first reading.
    pub keys: Arc<KeySet>,
    reading: u64,
}

#[derive(Debug, Default)]
struct Known {
    /// The keys of the last successful reading.
    keys: Arc<KeySet>,
    /// Whether the last reading succeeded.
    is_current: bool,
    /// The number of the last reading.
    reading: u64,
}

/// The task that keeps a [`Jwks`] up to date. The caller has to run it.
#[derive(Debug)]
pub struct Renewal {
    location: Location,
    reader: Reader,
    interval: Duration,
    known: watch::Sender<Known>,
    requests: mpsc::Receiver<Request>,
    dependency: Dependency,
}

/// Why a set of keys is not available.
#[derive(Debug, thiserror::Error)]
pub enum JwksError {
    /// The set cannot be read.
    #[error("cannot read the key set {location}: {source}")]
    Read {
        /// Where the set should be.
        location: String,
        /// The cause.
        source: ReadError,
    },
    /// The text is not a set of keys.
    #[error("{location} is not a key set: {source}")]
    Parse {
        /// Where the text came from.
        location: String,
        /// The fault of the text.
        source: KeySetError,
    },
    /// The set did not arrive in time.
    #[error("cannot read the key set {location}: it did not arrive within {} s", READ_TIMEOUT.as_secs())]
    TimedOut {
        /// Where the set should be.
        location: String,
    },
}

impl Jwks {
    /// Opens the keys at `location`. They are read again every `interval`, and when a token names an unknown key.
    /// `dependency` is up as soon as there are keys, and stays up during an outage of the provider.
    ///
    /// # Errors
    /// The file cannot be read or is not a set of keys, which is a mistake in the settings. Keys from the network are
    /// first read by [`Renewal::run`], which retries until it succeeds.
    pub async fn open(
        location: Location,
        interval: Duration,
        dependency: Dependency,
    ) -> Result<(Self, Renewal), JwksError> {
        let (known_sender, known) = watch::channel(Known::default());
        let (sender, requests) = mpsc::channel(CAPACITY);
        let reader = Reader::new(location.clone()).map_err(|source| JwksError::Read {
            location: location.to_string(),
            source,
        })?;
        let renewal = Renewal {
            location,
            reader,
            interval,
            known: known_sender,
            requests,
            dependency,
        };
        if matches!(renewal.location, Location::File(_)) {
            renewal.accept(renewal.read().await?);
        }
        let jwks = Self {
            known,
            requests: sender,
        };
        Ok((jwks, renewal))
    }

    /// The current keys.
    pub fn snapshot(&self) -> Snapshot {
        let known = self.known.borrow();
        Snapshot {
            keys: Arc::clone(&known.keys),
            reading: known.reading,
        }
    }

    /// Asks for keys newer than those of `seen`. Waits until they are read, or until the request is refused because of
    /// another one a moment ago. Returns whether the last reading succeeded, so that the current keys come from it.
    pub async fn renew(&self, seen: &Snapshot) -> bool {
        let (answer, answered) = oneshot::channel();
        let request = Request::Newer {
            reading: seen.reading,
            answer,
        };
        if self.requests.send(request).await.is_ok() {
            // Ends with an answer, or without one because the server stops.
            let _answered_or_gone = answered.await;
        }
        self.known.borrow().is_current
    }

    /// Has the keys read as soon as possible. If the queue is full, its requests cause a reading anyway.
    pub fn read_again(&self) {
        let _full_or_gone = self.requests.try_send(Request::Now);
    }
}

impl Renewal {
    /// Keeps the keys up to date until the last [`Jwks`] is dropped.
    pub async fn run(mut self) {
        let was_read_already = self.known.borrow().is_current;
        let mut next = if was_read_already {
            Instant::now() + self.interval
        } else {
            // Read here and not by the timer below, which is up to a millisecond late. A client that asks in between
            // would use up the allowed request, and the next one with an unknown key would have to wait.
            self.renew().await
        };
        let mut next_requested = Instant::now();
        loop {
            tokio::select! {
                biased;
                () = sleep_until(next) => next = self.renew().await,
                request = self.requests.recv() => match request {
                    None => return,
                    Some(Request::Now) => next = self.renew().await,
                    Some(Request::Newer { reading, answer }) => {
                        let nothing_read_since = self.known.borrow().reading == reading;
                        if nothing_read_since && next_requested <= Instant::now() {
                            next = self.renew().await;
                            next_requested = Instant::now() + MIN_TIME_BETWEEN_REQUESTED;
                        }
                        let _the_client_may_be_gone = answer.send(());
                    }
                },
            }
        }
    }

    /// Reads the keys and returns the time of the next reading.
    async fn renew(&self) -> Instant {
        let delay = match self.read().await {
            Ok(keys) => {
                self.accept(keys);
                self.interval
            }
            Err(error) => {
                self.fail(&error);
                self.interval.min(RETRY_INTERVAL)
            }
        };
        Instant::now() + delay
    }

    async fn read(&self) -> Result<KeySet, JwksError> {
        let location = || self.location.to_string();
        let read = timeout(READ_TIMEOUT, self.reader.read()).await;
        let json = read
            .map_err(|_| JwksError::TimedOut { location: location() })?
            .map_err(|source| JwksError::Read {
                location: location(),
                source,
            })?;
        KeySet::parse(&json).map_err(|source| JwksError::Parse {
            location: location(),
            source,
        })
    }

    fn accept(&self, keys: KeySet) {
        if !self.known.borrow().is_current {
            tracing::info!(
                n_keys = keys.n_keys(),
                "Tokens are checked with the keys in {}.",
                self.location
            );
        }
        self.known.send_modify(|known| {
            known.keys = Arc::new(keys);
            known.is_current = true;
            known.reading += 1;
        });
        self.dependency.up();
    }

    fn fail(&self, error: &JwksError) {
        let is_first_failure = self.known.borrow().is_current;
        let n_keys = self.known.borrow().keys.n_keys();
        if n_keys == 0 {
            self.dependency.down(error.to_string());
        }
        if is_first_failure || n_keys == 0 {
            tracing::warn!(
                n_keys,
                "{error}. The known keys stay in use; the server tries again."
            );
        }
        self.known.send_modify(|known| {
            known.is_current = false;
            known.reading += 1;
        });
    }
}

#[cfg(test)]
mod tests;
