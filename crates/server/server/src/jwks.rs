//! The public keys that tokens are checked with, kept up to date while the server runs: an identity provider changes
//! its keys whenever it likes, and announces that by nothing but tokens that name a new one.

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

/// Requests for a renewal that may wait for the one under way. Overflow rule: whoever asks waits for a place.
const CAPACITY: usize = 64;

/// Tokens that name unknown keys lead to at most one renewal in this time. Anybody can make such tokens, and they must
/// not become a flood of requests to the identity provider.
const MIN_TIME_BETWEEN_REQUESTED: Duration = Duration::from_secs(10);

/// After a failed renewal it is tried again so soon, unless the interval is shorter.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// How long a renewal may take. Clients whose tokens wait for it are connected but not welcomed yet.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The keys as they are known now. A clone sees the same keys.
#[derive(Debug, Clone)]
pub struct Jwks {
    known: watch::Receiver<Known>,
    requests: mpsc::Sender<Request>,
}

/// Somebody wants the keys to be read.
#[derive(Debug)]
enum Request {
    /// If the last reading is this one.
    Newer {
        reading: u64,
        answer: oneshot::Sender<()>,
    },
    /// In any case: the operator asks.
    Now,
}

/// The keys at one moment, and which reading brought them.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// None before they were first read.
    pub keys: Arc<KeySet>,
    reading: u64,
}

#[derive(Debug, Default)]
struct Known {
    /// The last good ones.
    keys: Arc<KeySet>,
    /// Whether the last reading succeeded.
    is_current: bool,
    /// The number of the last reading.
    reading: u64,
}

/// What keeps a [`Jwks`] up to date; it has to be run.
#[derive(Debug)]
pub struct Renewal {
    location: Location,
    reader: Reader,
    interval: Duration,
    known: watch::Sender<Known>,
    requests: mpsc::Receiver<Request>,
    dependency: Dependency,
}

/// Why a set of keys cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum JwksError {
    /// It cannot be read.
    #[error("cannot read the key set {location}: {source}")]
    Read {
        /// Where it should be.
        location: String,
        /// What went wrong.
        source: ReadError,
    },
    /// What was read is no set of keys.
    #[error("{location} is not a key set: {source}")]
    Parse {
        /// Where it came from.
        location: String,
        /// What is wrong with it.
        source: KeySetError,
    },
    /// It did not arrive in time.
    #[error("cannot read the key set {location}: it did not arrive within {} s", READ_TIMEOUT.as_secs())]
    TimedOut {
        /// Where it should be.
        location: String,
    },
}

impl Jwks {
    /// Keys from `location`, read again every `interval` and when a token names a key that is not known.
    /// `dependency` is up as soon as there are keys: a provider that is away for a while does no harm.
    ///
    /// # Errors
    /// When a file cannot be read or is no set of keys: that is a mistake in the settings. What comes over the network
    /// is first read by [`Renewal::run`], and as often as it takes.
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

    /// The keys as they are known now.
    pub fn snapshot(&self) -> Snapshot {
        let known = self.known.borrow();
        Snapshot {
            keys: Arc::clone(&known.keys),
            reading: known.reading,
        }
    }

    /// Asks for newer keys than those of `seen`, and waits until they are read, or refused because somebody asked a
    /// moment ago. Whether the last reading brought what is known now; if not, it failed.
    pub async fn renew(&self, seen: &Snapshot) -> bool {
        let (answer, answered) = oneshot::channel();
        let request = Request::Newer {
            reading: seen.reading,
            answer,
        };
        if self.requests.send(request).await.is_ok() {
            // The renewal answers, or it is gone because the server stops.
            let _answered_or_gone = answered.await;
        }
        self.known.borrow().is_current
    }

    /// Has the keys read at the next opportunity. A queue that is full of requests leads to a reading by itself.
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

    /// Reads the keys and says when to do so again.
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
                "{error}. The keys that are known stay in use; it is tried again."
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
