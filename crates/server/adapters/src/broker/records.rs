//! Records in Redis, each of which one server owns, so that another one can go on when its owner leaves it or dies
//! (docs/reference/redis-broker.md, Sessions).
//!
//! A record is taken once: the script that hands it out marks it as taken, and refuses what its former owner still sends.
//! A server that wants a record whose owner is there asks the owner to leave it; a record of a server that is gone is
//! taken at once.

use std::{
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use plimsoll_telemetry::{Counter, Registry};
use redis::cmd;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, MissedTickBehavior, interval, sleep, timeout, timeout_at},
};

use super::{Broker, Listener, RECORD, REVOKE, SERVERS, Shared, TAKE, replies::number, unreadable};
use crate::{
    pipeline::{Request, RequestError},
    resp::Reply,
    supervisor::stopped,
};

mod waiting;

use waiting::{Change, Outcome, Waiting};

/// The wait before changes that Redis did not confirm are sent again.
const BEFORE_REPEAT: Duration = Duration::from_millis(500);

/// How long Redis may take for one change.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The time between two signs of life of a server, and the time for which one counts.
const BEAT: Duration = Duration::from_millis(500);
const ALIVE_FOR: Duration = Duration::from_secs(2);

/// How long a server that wants a record waits for its owner to leave it. A command in progress there ends first.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The first wait between two attempts; each is twice as long as the one before, up to [`MAX_PAUSE`].
const MIN_PAUSE: Duration = Duration::from_millis(10);
const MAX_PAUSE: Duration = Duration::from_millis(200);

/// How long the last changes of a server that stops may take.
const LAST_CHANGES_TIMEOUT: Duration = Duration::from_secs(2);

/// The lifetime of a record that a server has, in those of a record that was left. It is renewed in the middle.
const LIFETIME_IN_TTLS: u32 = 2;

/// The longest key, in bytes. Those of this program are shorter.
const MAX_KEY_BYTES: usize = 64;

/// The owner of a record that was taken. No server has this name.
const TAKEN: &[u8] = b"-";

/// The beginning of the request to leave a record, on the channel of its owner.
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
pub(super) enum Attempt {
    Taken { record: Record, since_ms: u64 },
    Owned(String),
    Unknown,
}

/// The records of one server.
#[derive(Debug)]
pub(super) struct Records {
    /// How long a record can be taken after its server has left it or died, at least.
    ttl: Duration,
    waiting: Mutex<Waiting>,
    changed: Notify,
    settled: Notify,
    unsaved: Counter,
}

impl Records {
    pub(super) fn new(ttl: Duration, registry: &Registry) -> Self {
        Self {
            ttl,
            waiting: Mutex::default(),
            changed: Notify::new(),
            settled: Notify::new(),
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

    /// Completes when Redis has confirmed all changes of a record.
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
    async fn send_all<L: Listener>(&self, broker: &Broker, listener: &L) {
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
                .map(|(key, change)| broker.send_change(key, change, self.ttl));
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

impl Broker {
    /// This server has this record from now on, which other servers may take when this one is gone. Redis learns of a new
    /// one at once, and of changes within about a second. A later change replaces an earlier one.
    pub fn hold(&self, key: &str, record: Record) {
        self.change(key, Change::Hold(record));
    }

    /// Every server may take this record from now on, for at least the lifetime of the settings.
    pub fn leave(&self, key: &str, record: Record) {
        self.change(key, Change::Leave(record));
    }

    /// The record is gone.
    pub fn remove(&self, key: &str) {
        self.change(key, Change::Remove);
    }

    /// Takes a record, if there is one and it has this guard. A server that has it is asked to leave it, for up to five
    /// seconds. `None`: there is no such record, it was revoked, or its server does not leave it.
    ///
    /// # Errors
    /// Redis did not answer. The record may have been taken.
    pub async fn take(&self, key: &str, guard: Option<&str>) -> Result<Option<Record>, RequestError> {
        let is_key = (1..=MAX_KEY_BYTES).contains(&key.len())
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_key {
            return Ok(None);
        }
        timeout(MAX_WAIT, self.take_from_owner(key, guard))
            .await
            .unwrap_or(Ok(None))
    }

    /// Whether a record has been taken.
    ///
    /// # Errors
    /// Redis did not answer.
    pub async fn is_taken(&self, key: &str) -> Result<bool, RequestError> {
        let get = cmd("HGET")
            .arg(self.shared.keys.owned(key))
            .arg("owner")
            .to_owned();
        let answer = self.request(Request::Command(get)).await?;
        Ok(answer == Reply::Text(TAKEN.to_vec()))
    }

    /// Revokes all records with this guard. Those that begin later are not concerned.
    ///
    /// # Errors
    /// Redis did not confirm it.
    pub async fn revoke(&self, guard: &str) -> Result<(), RequestError> {
        let Some(records) = &self.shared.records else {
            return Ok(());
        };
        // As long as any record can live that has begun by now.
        let ttl = LIFETIME_IN_TTLS * records.ttl;
        let script = Request::Script {
            script: &REVOKE,
            keys: vec![self.shared.keys.revoked(guard)],
            arguments: vec![ms(ttl)],
        };
        self.request(script).await.map(drop)
    }

    /// Completes when Redis has confirmed all changes of records, or when that takes too long.
    pub async fn confirm_records(&self) {
        let Some(records) = &self.shared.records else {
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

    /// Does the work for records until `stop` becomes true.
    pub(super) async fn keep_records<L: Listener>(&self, listener: &L, mut stop: watch::Receiver<bool>) {
        let Some(records) = &self.shared.records else {
            return;
        };
        tokio::select! {
            () = records.send_all(self, listener) => {}
            () = stopped(&mut stop) => {}
        }
    }

    /// Says that this server is there, until `stop` becomes true.
    pub(super) async fn beat(&self, mut stop: watch::Receiver<bool>) {
        if self.shared.records.is_none() && self.shared.members.is_none() {
            return;
        }
        tokio::select! {
            () = self.beat_on() => {}
            () = stopped(&mut stop) => {}
        }
    }

    async fn beat_on(&self) {
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            let answer = self.servers(&self.shared.name, Some(ALIVE_FOR)).await;
            // The connection says what is wrong.
            if let Ok((n_servers, _)) = answer {
                self.shared.servers.set(n_servers);
            }
        }
    }

    fn change(&self, key: &str, change: Change) {
        if let Some(records) = &self.shared.records {
            records.change(key, change);
        }
    }

    async fn send_change(&self, key: &str, change: &Change, ttl: Duration) -> Result<Outcome, RequestError> {
        let none = Record::default();
        let (name, ttl, record) = match change {
            // A record of a server that dies right before it renews the lifetime still has the other half.
            Change::Hold(record) => ("hold", LIFETIME_IN_TTLS * ttl, record),
            Change::Touch => ("touch", LIFETIME_IN_TTLS * ttl, &none),
            Change::Leave(record) => ("leave", ttl, record),
            Change::Remove => ("remove", ttl, &none),
        };
        let script = Request::Script {
            script: &RECORD,
            keys: vec![self.shared.keys.owned(key)],
            arguments: vec![
                name.into(),
                self.shared.name.clone().into(),
                ms(ttl),
                record.guard.as_bytes().to_vec(),
                record.content.clone(),
            ],
        };
        match self.shared.pipeline.request(script, CHANGE_TIMEOUT).await? {
            Reply::Integer(1) => Ok(Outcome::Made),
            Reply::Integer(0) => Ok(Outcome::Absent),
            Reply::Integer(-1) => Ok(Outcome::NotOurs),
            _ => Err(unreadable()),
        }
    }

    async fn take_from_owner(&self, key: &str, guard: Option<&str>) -> Result<Option<Record>, RequestError> {
        if let Some(records) = &self.shared.records {
            records.confirmed(key).await;
        }
        let mut pause = MIN_PAUSE;
        let mut gone = None;
        loop {
            match self.attempt(key, guard, gone.as_deref()).await? {
                Attempt::Unknown => return Ok(None),
                Attempt::Taken { record, since_ms } => {
                    let is_revoked = self.is_revoked(&record.guard, since_ms).await?;
                    return Ok((!is_revoked).then_some(record));
                }
                Attempt::Owned(owner) if self.servers(&owner, None).await?.1 => {
                    self.ask_for(key, &owner).await?;
                    sleep(pause).await;
                    pause = (2 * pause).min(MAX_PAUSE);
                }
                Attempt::Owned(owner) => gone = Some(owner),
            }
        }
    }

    pub(super) async fn attempt(
        &self,
        key: &str,
        guard: Option<&str>,
        gone: Option<&str>,
    ) -> Result<Attempt, RequestError> {
        let ttl = self
            .shared
            .records
            .as_ref()
            .map_or(MAX_WAIT, |records| records.ttl);
        let script = Request::Script {
            script: &TAKE,
            keys: vec![self.shared.keys.owned(key)],
            arguments: vec![
                if guard.is_some() {
                    b"1".to_vec()
                } else {
                    b"0".to_vec()
                },
                guard.unwrap_or_default().into(),
                gone.map_or(TAKEN, str::as_bytes).to_vec(),
                ms(ttl),
            ],
        };
        let reply = self.request(script).await?;
        attempt(reply).ok_or_else(unreadable)
    }

    async fn is_revoked(&self, guard: &str, since_ms: u64) -> Result<bool, RequestError> {
        let get = cmd("GET").arg(self.shared.keys.revoked(guard)).to_owned();
        match self.request(Request::Command(get)).await? {
            Reply::Text(text) => Ok(number(&text).ok_or_else(unreadable)? >= since_ms),
            _ => Ok(false),
        }
    }

    /// Asks another server to leave a record.
    async fn ask_for(&self, key: &str, owner: &str) -> Result<(), RequestError> {
        let mut publish = cmd("PUBLISH");
        publish
            .arg(self.shared.keys.probe(owner))
            .arg([LEAVE, key.as_bytes()].concat());
        self.request(Request::Command(publish)).await.map(drop)
    }

    /// The number of servers, and whether this one is there. With a lifetime it is there from now on, for so long.
    async fn servers(&self, name: &str, lifetime: Option<Duration>) -> Result<(i64, bool), RequestError> {
        let script = Request::Script {
            script: &SERVERS,
            keys: vec![self.shared.keys.servers()],
            arguments: vec![name.into(), ms(lifetime.unwrap_or_default())],
        };
        let reply = self.request(script).await?;
        match <[Reply; 2]>::try_from(reply.into_elements()) {
            Ok([Reply::Integer(n_servers), Reply::Integer(is_there)]) => Ok((n_servers, is_there == 1)),
            _ => Err(unreadable()),
        }
    }

    async fn request(&self, request: Request) -> Result<Reply, RequestError> {
        let Shared {
            pipeline,
            publish_timeout,
            ..
        } = &*self.shared;
        pipeline.request(request, *publish_timeout).await
    }
}

/// The key in a request to leave a record.
pub(super) fn key_to_leave(message: &[u8]) -> Option<&str> {
    std::str::from_utf8(message.strip_prefix(LEAVE)?).ok()
}

/// The answer of `take.lua`.
fn attempt(reply: Reply) -> Option<Attempt> {
    let texts = reply.into_elements().into_iter().map(|part| match part {
        Reply::Text(text) => Some(text),
        _ => None,
    });
    let texts: Vec<_> = texts.collect::<Option<_>>()?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
    match <[Vec<u8>; 3]>::try_from(texts) {
        Ok([guard, since, content]) => Some(Attempt::Taken {
            record: Record {
                guard: text(guard)?.into(),
                content,
            },
            since_ms: number(&since)?,
        }),
        Err(texts) => match <[Vec<u8>; 1]>::try_from(texts) {
            Ok([owner]) => Some(Attempt::Owned(text(owner)?)),
            Err(texts) => texts.is_empty().then_some(Attempt::Unknown),
        },
    }
}

fn ms(duration: Duration) -> Vec<u8> {
    duration.as_millis().to_string().into()
}
