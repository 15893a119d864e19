//! Records in a store that the servers share, each of which one server owns, so that another one can go on when its owner
//! leaves it or dies (docs/reference/redis-broker.md, Sessions; docs/reference/nats-broker.md, Sessions).
//!
//! A record is taken once: the store marks it as taken when it hands it out, and refuses what its former owner still sends.
//! A server that wants a record whose owner is there asks the owner to leave it; a record of a server that is gone is
//! taken at once.

use std::{
    fmt::{Debug, Display},
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use plimsoll_telemetry::{Counter, Registry};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, timeout, timeout_at},
};

use crate::{broker::Listener, supervisor::stopped};

#[cfg(test)]
pub(crate) mod scenarios;
mod turns;
mod waiting;

use turns::Turns;
use waiting::Waiting;
pub(crate) use waiting::{Change, Outcome};

/// The wait before changes that the store did not confirm are sent again.
const BEFORE_REPEAT: Duration = Duration::from_millis(500);

/// How long the store may take for one change.
pub(crate) const CHANGE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a server that wants a record waits for its owner to leave it. A command in progress there ends first.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The first wait between two attempts; each is twice as long as the one before, up to [`MAX_PAUSE`].
const MIN_PAUSE: Duration = Duration::from_millis(10);
const MAX_PAUSE: Duration = Duration::from_millis(200);

/// How long the last changes of a server that stops may take.
const LAST_CHANGES_TIMEOUT: Duration = Duration::from_secs(2);

/// The lifetime of a record that a server has, in those of a record that was left. It is renewed in the middle.
pub(crate) const LIFETIME_IN_TTLS: u32 = 2;

/// The longest key, in bytes. Those of this program are shorter.
const MAX_KEY_BYTES: usize = 64;

/// The beginning of the request to leave a record, in the message to its owner.
const LEAVE: &[u8] = b"leave ";

/// A record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Whose record it is. A record can be taken only for this guard, and all records of a guard can be revoked.
    pub guard: Box<str>,
    /// The content, which nothing here reads.
    pub content: Vec<u8>,
}

/// The answer to an attempt to take a record.
#[derive(Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It is taken. `since` is the time of its beginning, as the store counts.
    Taken { record: Record, since: u64 },
    /// The server with this name has it.
    Owned(String),
    /// There is no such record.
    Unknown,
}

/// The records of one server.
#[derive(Debug)]
pub struct Records {
    /// How long a record can be taken after its server has left it or died, at least.
    pub(crate) ttl: Duration,
    waiting: Mutex<Waiting>,
    changed: Notify,
    settled: Notify,
    turns: Turns,
    unsaved: Counter,
}

impl Records {
    pub(crate) fn new(ttl: Duration, registry: &Registry) -> Self {
        Self {
            ttl,
            waiting: Mutex::default(),
            changed: Notify::new(),
            settled: Notify::new(),
            turns: Turns::default(),
            unsaved: registry.counter(
                "broker_unsaved_sessions_total",
                "Sessions that cannot go on because the broker was away for so long that they found no room in memory",
            ),
        }
    }

    fn change(&self, key: &str, change: Change) {
        if !self.waiting().add(key.into(), change) {
            self.unsaved.increment();
        }
        self.changed.notify_one();
    }

    /// Completes when the store has confirmed all changes of a record.
    async fn confirmed(&self, key: &str) {
        self.confirmed_if(|waiting| !waiting.changes.contains_key(key) && !waiting.under_way.contains(key))
            .await;
    }

    async fn confirmed_if(&self, is_confirmed: impl Fn(&Waiting) -> bool) {
        loop {
            let mut settled = pin!(self.settled.notified());
            settled.as_mut().enable();
            if is_confirmed(&self.waiting()) {
                return;
            }
            settled.await;
        }
    }

    /// Sends all changes, as they come.
    async fn send_all<S: RecordStore>(&self, store: &S, listener: &impl Listener) {
        loop {
            let (batch, due) = self.waiting().take_due(Instant::now());
            if batch.is_empty() {
                let changed = self.changed.notified();
                match due {
                    Some(due) => drop(timeout_at(due, changed).await),
                    None => changed.await,
                }
                continue;
            }
            let sent = batch
                .iter()
                .map(|(key, change)| store.send_change(key, change, self.ttl));
            let outcomes = join_all(sent).await;
            let mut failure = None;
            for ((key, change), outcome) in batch.into_iter().zip(outcomes) {
                let is_lost = match outcome {
                    Ok(outcome) => self.waiting().confirm(key.clone(), &change, outcome, self.ttl),
                    Err(error) => {
                        failure = Some(error);
                        self.waiting().put_back(key.clone(), change);
                        false
                    }
                };
                if is_lost {
                    listener.release(&key).await;
                }
            }
            self.settled.notify_waiters();
            if let Some(error) = failure {
                tracing::debug!(%error, "Changes of sessions are sent to the broker again.");
                sleep(BEFORE_REPEAT).await;
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // A panic under the lock is a bug in this file; the other records go on.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store with records.
pub trait RecordStore: Debug + Clone + Send + Sync + 'static {
    /// Why a record could not be read or changed.
    type Error: Display + Send;

    /// The records of this server. `None`: there are no records.
    fn records(&self) -> Option<&Records>;

    /// Changes a record of this server.
    fn send_change(
        &self,
        key: &str,
        change: &Change,
        ttl: Duration,
    ) -> impl Future<Output = Result<Outcome, Self::Error>> + Send;

    /// Takes a record with this guard that no server has, or a server that is gone.
    fn attempt(
        &self,
        key: &str,
        guard: Option<&str>,
        gone: Option<&str>,
    ) -> impl Future<Output = Result<Attempt, Self::Error>> + Send;

    /// Whether the records with this guard were revoked that began at this time, as the store counts.
    fn is_revoked(&self, guard: &str, since: u64) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// Whether a server is there.
    fn is_there(&self, server: &str) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// Sends a message to one server.
    fn tell(&self, server: &str, message: Vec<u8>) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Whether a record has been taken.
    ///
    /// # Errors
    /// The store did not answer.
    fn is_taken(&self, key: &str) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// Revokes all records with this guard. Those that begin later are not concerned.
    ///
    /// # Errors
    /// The store did not confirm it.
    fn revoke(&self, guard: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// This server has this record from now on, which other servers may take when this one is gone. The store learns of a
    /// new one at once, and of changes within about a second. A later change replaces an earlier one.
    fn hold(&self, key: &str, record: Record) {
        change(self, key, Change::Hold(record));
    }

    /// Every server may take this record from now on, for at least the lifetime of the settings.
    fn leave(&self, key: &str, record: Record) {
        change(self, key, Change::Leave(record));
    }

    /// The record is gone.
    fn remove(&self, key: &str) {
        change(self, key, Change::Remove);
    }

    /// Takes a record, if there is one and it has this guard. A server that has it is asked to leave it, for up to five
    /// seconds. `None`: there is no such record, it was revoked, or its server does not leave it.
    ///
    /// # Errors
    /// The store did not answer. The record may have been taken.
    fn take(
        &self,
        key: &str,
        guard: Option<&str>,
    ) -> impl Future<Output = Result<Option<Record>, Self::Error>> + Send {
        async move {
            if !is_key(key) {
                return Ok(None);
            }
            let taken = timeout(MAX_WAIT, take_from_owner(self, key, guard)).await;
            taken.unwrap_or(Ok(None))
        }
    }

    /// Completes when the store has confirmed all changes of records, or when that takes too long.
    fn confirm_records(&self) -> impl Future<Output = ()> + Send {
        async move {
            let Some(records) = self.records() else {
                return;
            };
            records.waiting().hurry();
            records.changed.notify_one();
            let confirmed =
                records.confirmed_if(|waiting| waiting.changes.is_empty() && waiting.under_way.is_empty());
            if timeout(LAST_CHANGES_TIMEOUT, confirmed).await.is_err() {
                tracing::warn!(
                    "The broker did not take all sessions before the server had to stop. Their clients connect anew."
                );
            }
        }
    }
}

/// Does the work for records until `stop` becomes true.
pub(crate) async fn keep_records(
    store: &impl RecordStore,
    listener: &impl Listener,
    mut stop: watch::Receiver<bool>,
) {
    let Some(records) = store.records() else {
        return;
    };
    tokio::select! {
        () = records.send_all(store, listener) => {}
        () = stopped(&mut stop) => {}
    }
}

/// The key in a request to leave a record.
pub(crate) fn key_to_leave(message: &[u8]) -> Option<&str> {
    std::str::from_utf8(message.strip_prefix(LEAVE)?).ok()
}

fn is_key(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (1..=MAX_KEY_BYTES).contains(&key.len()) && key.bytes().all(is_plain)
}

fn change(store: &impl RecordStore, key: &str, change: Change) {
    if let Some(records) = store.records() {
        records.change(key, change);
    }
}

async fn take_from_owner<S: RecordStore>(
    store: &S,
    key: &str,
    guard: Option<&str>,
) -> Result<Option<Record>, S::Error> {
    let Some(records) = store.records() else {
        return Ok(None);
    };
    let _turn = records.turns.wait_for(key).await;
    records.confirmed(key).await;
    let mut pause = MIN_PAUSE;
    let mut gone = None;
    loop {
        match store.attempt(key, guard, gone.as_deref()).await? {
            Attempt::Unknown => return Ok(None),
            Attempt::Taken { record, since } => {
                let is_revoked = store.is_revoked(&record.guard, since).await?;
                return Ok((!is_revoked).then_some(record));
            }
            Attempt::Owned(owner) if store.is_there(&owner).await? => {
                store.tell(&owner, [LEAVE, key.as_bytes()].concat()).await?;
                sleep(pause).await;
                pause = (2 * pause).min(MAX_PAUSE);
            }
            Attempt::Owned(owner) => gone = Some(owner),
        }
    }
}
