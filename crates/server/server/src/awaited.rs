//! Sessions whose clients may come back, and what is needed to go on with them (docs/protocols/extended.md, Resuming).
//!
//! While a session lives, its own task has everything. At its end the task leaves a [`Record`] here, and a new connection
//! that names the session takes it: on any shard, once. If the old connection is still open, because the server has not
//! noticed that the client is gone, it is cut first, so a session never exists twice.
//!
//! Where several servers share their sessions in a [`SessionStore`], records go there, and a session goes on at any of
//! them. What stays here is which sessions are open, and which ends the application has not been told about.

use std::{
    collections::{BTreeMap, HashMap, VecDeque, hash_map::Entry},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use plimsoll_broker::presence::Absence;
use plimsoll_hub::SessionId;
use plimsoll_telemetry::{Counter, Registry};
use tokio::{
    sync::{Notify, futures::OwnedNotified},
    time::Instant,
};

use crate::{
    application::{DisconnectRequest, Entries, Environment, MayResume, State},
    session_store::SessionStore,
};

mod stored;

pub(crate) use stored::{Present, Snapshot};

/// How long a client's return waits for the end of its old connection. A command in progress there ends first.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(5);

/// How long sessions with identifiers that a backend has disconnected leave nothing behind: longer than any shard takes
/// to end them.
const REVOKED_FOR: Duration = Duration::from_secs(10);

/// The most identifiers for which that is remembered. Beyond it the oldest is forgotten.
const MAX_REVOKED: usize = 10_000;

/// The memory of a record and of its places in the tables, in bytes, without its texts.
const RECORD_OVERHEAD: usize = size_of::<Away>() + 256;

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resuming {
    /// How long a client may be away. Greater than 0.
    pub ttl: Duration,
    /// How long the application is not told about the end of a session whose client may come back.
    pub disconnect_grace: Duration,
    /// The most memory of all sessions that wait, in bytes. Beyond it the oldest is forgotten.
    pub max_bytes: usize,
}

/// What is left of a session.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) identifiers: Box<str>,
    /// Subscriptions with their streams, in the order in which they were granted.
    pub(crate) subscriptions: Vec<(Box<str>, Vec<Box<str>>)>,
    pub(crate) environment: Environment,
    pub(crate) istate: Entries<State>,
    /// Whether the application wants to hear of the session's end.
    pub(crate) hears_of_end: bool,
    pub(crate) expires_at: Option<SystemTime>,
    /// Where the client was present, by the identifier of the subscription.
    pub(crate) absences: Vec<(Box<str>, Absence)>,
}

/// The answer to a client that names an earlier session.
#[derive(Debug)]
pub(crate) enum Claim {
    /// The session goes on.
    Granted(Box<Record>),
    /// Its old connection is still open.
    Open(StillOpen),
    /// There is no such session.
    Unknown,
}

/// A session whose old connection is still open.
#[derive(Debug)]
pub(crate) struct StillOpen {
    pub(crate) shard: usize,
    pub(crate) session: SessionId,
    /// Completes when the connection has ended.
    pub(crate) end: OwnedNotified,
}

/// All sessions that wait for their clients.
#[derive(Debug)]
pub(crate) struct Awaited {
    settings: Resuming,
    /// `None`: sessions go on at this server alone.
    store: Option<Arc<dyn SessionStore>>,
    table: Mutex<Table>,
    resumed: Counter,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<Box<str>, Open>,
    away: HashMap<Arc<str>, Away>,
    /// By number, so by age.
    by_age: BTreeMap<u64, Arc<str>>,
    /// Those about whose end the application is to be told.
    untold: BTreeMap<u64, Arc<str>>,
    revoked: Revocations,
    last_number: u64,
    n_bytes: usize,
}

#[derive(Debug)]
struct Open {
    shard: usize,
    session: SessionId,
    /// Notified at the end of the connection, if a later one waits for it.
    ended: Option<Arc<Notify>>,
}

/// Identifiers that a backend has disconnected lately. Looked up at the end of every session, so by name.
#[derive(Debug, Default)]
struct Revocations {
    by_age: VecDeque<(Instant, Arc<str>)>,
    /// The number of times that each name is in `by_age`.
    names: HashMap<Arc<str>, usize>,
}

#[derive(Debug)]
struct Away {
    record: Box<Record>,
    since: Instant,
    number: u64,
    n_bytes: usize,
}

impl Awaited {
    pub(crate) fn new(
        settings: Resuming,
        store: Option<Arc<dyn SessionStore>>,
        registry: &Registry,
    ) -> Arc<Self> {
        let awaited = Arc::new(Self {
            settings,
            store,
            table: Mutex::default(),
            resumed: registry.counter(
                "sessions_resumed_total",
                "Sessions that went on at this server with a new connection",
            ),
        });
        let counted = Arc::clone(&awaited);
        registry.gauge_fn(
            "sessions_awaited_num",
            "Sessions in the memory of this server whose client may come back",
            move || counted.table().away.len() as f64,
        );
        awaited
    }

    /// A session that may be resumed has a connection.
    pub(crate) fn opened(&self, sid: &str, shard: usize, session: SessionId) {
        let open = Open {
            shard,
            session,
            ended: None,
        };
        self.table().open.insert(sid.into(), open);
    }

    /// A session has ended for good.
    pub(crate) fn closed(&self, sid: &str) {
        if let Some(store) = &self.store {
            store.end(sid);
        }
        let open = self.table().open.remove(sid);
        open.into_iter().for_each(Open::end);
    }

    /// The store that has the sessions of all servers, if there is one.
    pub(crate) fn store(&self) -> Option<&dyn SessionStore> {
        self.store.as_deref()
    }

    /// The connection of a session, if it is open at this server.
    pub(crate) fn find_open(&self, sid: &str) -> Option<StillOpen> {
        self.table().open.get_mut(sid).map(Open::still)
    }

    /// The session goes on with a new connection at this server. Returns false if it may not: a backend may have
    /// disconnected its client meanwhile.
    pub(crate) fn goes_on(&self, sid: &str, record: &Record) -> bool {
        let mut table = self.table();
        table.remove(sid);
        let is_over = record.expires_at.is_some_and(|end| SystemTime::now() >= end);
        let may_go_on = !is_over && !table.revoked.contains(&record.identifiers);
        if may_go_on {
            self.resumed.increment();
        }
        may_go_on
    }

    /// The connection of a session has ended, and the client may come back. Returns the calls to the application that
    /// are to be made now.
    pub(crate) fn leave(&self, sid: &str, record: Record) -> Vec<DisconnectRequest> {
        let mut table = self.table();
        let open = table.open.remove(sid);
        let now = Instant::now();
        let mut calls = Vec::new();
        let tells_later = !self.settings.disconnect_grace.is_zero();
        if table.revoked.contains(&record.identifiers) {
            if let Some(store) = &self.store {
                store.end(sid);
            }
            calls.extend(record.hears_of_end.then(|| record.farewell(sid)));
        } else {
            if let Some(store) = &self.store {
                store.leave(sid, record.to_stored());
            }
            if record.hears_of_end && !tells_later {
                calls.push(record.farewell(sid));
            }
            if self.store.is_none() || (record.hears_of_end && tells_later) {
                table.add(sid, record, now, tells_later);
            }
            while table.n_bytes > self.settings.max_bytes
                && let Some((_, oldest)) = table.by_age.first_key_value()
            {
                let oldest = Arc::clone(oldest);
                calls.extend(table.forget(&oldest));
            }
        }
        drop(table);
        open.into_iter().for_each(Open::end);
        calls
    }

    /// A client names an earlier session.
    pub(crate) fn claim(&self, sid: &str, may: &MayResume) -> Claim {
        let mut table = self.table();
        if let Some(open) = table.open.get_mut(sid) {
            return Claim::Open(open.still());
        }
        let is_valid = table.away.get(sid).is_some_and(|away| {
            let is_allowed = match may {
                MayResume::Any => true,
                MayResume::Of(identifiers) => *away.record.identifiers == **identifiers,
                MayResume::None => false,
            };
            let is_over = |end| SystemTime::now() >= end;
            is_allowed
                && away.since.elapsed() < self.settings.ttl
                && !away.record.expires_at.is_some_and(is_over)
        });
        if !is_valid {
            return Claim::Unknown;
        }
        match table.remove(sid) {
            Some(away) => Claim::Granted(away.record),
            None => Claim::Unknown,
        }
    }

    /// A backend ends all sessions with these identifiers, also those that wait. Returns the calls that are to be made
    /// now. Sessions that end within the next seconds leave nothing behind.
    pub(crate) fn revoke(&self, identifiers: &str) -> Vec<DisconnectRequest> {
        let mut table = self.table();
        table.revoked.add(identifiers);
        let gone: Vec<_> = table
            .away
            .iter()
            .filter(|(_, away)| *away.record.identifiers == *identifiers)
            .map(|(sid, _)| Arc::clone(sid))
            .collect();
        gone.iter().filter_map(|sid| table.forget(sid)).collect()
    }

    /// Forgets sessions whose client has been away for too long. Returns the calls that are due. Call it with every tick.
    pub(crate) fn tick(&self) -> Vec<DisconnectRequest> {
        let mut table = self.table();
        let mut calls = Vec::new();
        let is_older = |table: &Table, sid: &str, age| table.away[sid].since.elapsed() >= age;
        while let Some((number, sid)) = table.untold.first_key_value()
            && is_older(&table, sid, self.settings.disconnect_grace)
        {
            let (number, sid) = (*number, Arc::clone(sid));
            table.untold.remove(&number);
            calls.push(table.away[&sid].record.farewell(&sid));
        }
        while let Some((_, sid)) = table.by_age.first_key_value()
            && is_older(&table, sid, self.settings.ttl)
        {
            let sid = Arc::clone(sid);
            calls.extend(table.forget(&sid));
        }
        table.revoked.drop_old();
        calls
    }

    /// Leaves out the calls about sessions that have gone on at other servers.
    pub(crate) async fn without_taken(&self, mut calls: Vec<DisconnectRequest>) -> Vec<DisconnectRequest> {
        let Some(store) = &self.store else {
            return calls;
        };
        let mut checked = 0;
        while let Some(call) = calls.get(checked) {
            match store.is_taken(&call.sid).await {
                Ok(true) => drop(calls.swap_remove(checked)),
                Ok(false) => checked += 1,
                // A call too many is better than none.
                Err(_) => break,
            }
        }
        calls
    }

    /// The server stops. Returns the calls that have not been made.
    pub(crate) fn finish(&self) -> Vec<DisconnectRequest> {
        let table = &mut *self.table();
        let untold = mem::take(&mut table.untold);
        untold
            .values()
            .map(|sid| table.away[sid].record.farewell(sid))
            .collect()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic under the lock is a bug in this file; other sessions go on.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// For a connection that waits until this one has ended.
    fn still(&mut self) -> StillOpen {
        let ended = self.ended.get_or_insert_default();
        StillOpen {
            shard: self.shard,
            session: self.session,
            // It counts from here on, under the lock, so that no end is missed.
            end: Arc::clone(ended).notified_owned(),
        }
    }

    fn end(self) {
        if let Some(ended) = self.ended {
            ended.notify_waiters();
        }
    }
}

impl Revocations {
    fn add(&mut self, identifiers: &str) {
        self.drop_old();
        if self.by_age.len() >= MAX_REVOKED {
            self.drop_oldest();
        }
        let name: Arc<str> = identifiers.into();
        self.by_age.push_back((Instant::now(), Arc::clone(&name)));
        *self.names.entry(name).or_default() += 1;
    }

    fn contains(&self, identifiers: &str) -> bool {
        self.names.contains_key(identifiers)
    }

    fn drop_old(&mut self) {
        while let Some((at, _)) = self.by_age.front()
            && at.elapsed() > REVOKED_FOR
        {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let Some((_, name)) = self.by_age.pop_front() else {
            return;
        };
        if let Entry::Occupied(mut times) = self.names.entry(name) {
            *times.get_mut() -= 1;
            if *times.get() == 0 {
                times.remove();
            }
        }
    }
}

impl Table {
    fn add(&mut self, sid: &str, record: Record, now: Instant, tells_later: bool) {
        let sid: Arc<str> = sid.into();
        self.last_number += 1;
        let number = self.last_number;
        if record.hears_of_end && tells_later {
            self.untold.insert(number, Arc::clone(&sid));
        }
        self.by_age.insert(number, Arc::clone(&sid));
        let n_bytes = RECORD_OVERHEAD + record.text_bytes();
        self.n_bytes += n_bytes;
        let away = Away {
            record: Box::new(record),
            since: now,
            number,
            n_bytes,
        };
        self.away.insert(sid, away);
    }

    fn remove(&mut self, sid: &str) -> Option<Away> {
        let away = self.away.remove(sid)?;
        self.by_age.remove(&away.number);
        self.untold.remove(&away.number);
        self.n_bytes -= away.n_bytes;
        if self.away.len() * 4 < self.away.capacity() {
            self.away.shrink_to(self.away.len() * 2);
        }
        Some(away)
    }

    /// Removes a session. Returns the call, if it has not been made.
    fn forget(&mut self, sid: &str) -> Option<DisconnectRequest> {
        let number = self.away.get(sid)?.number;
        let is_untold = self.untold.contains_key(&number);
        let away = self.remove(sid)?;
        is_untold.then(|| away.record.farewell(sid))
    }
}

impl Record {
    fn farewell(&self, sid: &str) -> DisconnectRequest {
        DisconnectRequest {
            sid: sid.into(),
            identifiers: self.identifiers.clone(),
            subscriptions: self
                .subscriptions
                .iter()
                .map(|(identifier, _)| identifier.clone())
                .collect(),
            environment: self.environment.clone(),
            istate: self.istate.clone(),
        }
    }

    /// The memory of all texts, in bytes, with about as much as their places take.
    fn text_bytes(&self) -> usize {
        const PLACE: usize = 48;
        let state = |state: &State| -> usize {
            let entries = state.entries().iter();
            entries
                .map(|(key, value)| key.len() + value.len() + 2 * PLACE)
                .sum()
        };
        let headers = self.environment.headers.iter();
        let streams = self.subscriptions.iter().flat_map(|(_, streams)| streams);
        self.identifiers.len()
            + self.environment.url.len()
            + headers
                .map(|(key, value)| key.len() + value.len() + 2 * PLACE)
                .sum::<usize>()
            + state(&self.environment.cstate)
            + self
                .subscriptions
                .iter()
                .map(|(identifier, _)| identifier.len() + PLACE)
                .sum::<usize>()
            + streams.map(|stream| stream.len() + PLACE).sum::<usize>()
            + self
                .istate
                .iter()
                .map(|(key, value)| key.len() + PLACE + state(value))
                .sum::<usize>()
            + self
                .absences
                .iter()
                .map(|(identifier, absence)| identifier.len() + absence.text_bytes() + 2 * PLACE)
                .sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
