//! Records in JetStream (docs/reference/nats-broker.md, Sessions).
//!
//! Each record is the last message on a subject of its own. A change names the message that it follows, so of two servers
//! that change a record at the same time one is refused, as with logs ([`super::write`]). JetStream counts the messages
//! of all records and revocations together, so their numbers say which came first.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_nats::{
    Header,
    jetstream::{Wanted, acknowledgement},
};
use tokio::time::timeout;

use super::{
    JetStream, JetStreamError, Streams,
    read::{Chained, Last},
    refused,
    requests::Request,
    write,
};
use crate::records::{Attempt, CHANGE_TIMEOUT, Change, Outcome, Record, RecordStore, Records};

/// The field of a change.
const RECORD: &str = "Plimsoll-Record";

/// What this server needs for records.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) records: Records,
    pub(super) ends: Ends,
}

/// A change of a record, without its guard and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    state: State,
    /// The number of the message with which the record began; 0: this one.
    since: u64,
    /// See [`Chained::after`].
    after: u64,
    /// The length of the guard, with which the payload begins, in bytes.
    guard_bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// The server with this name has it.
    Held(String),
    /// Any server may take it.
    Left,
    /// One has taken it.
    Taken,
    /// It is gone.
    Removed,
}

impl Chained for Entry {
    fn stream(streams: &Streams) -> &str {
        &streams.records
    }

    fn read(header: &Header<'_>) -> Option<Self> {
        let parts: Vec<_> = header.get(RECORD)?.split(' ').collect();
        let [state, owner, since, after, guard_bytes] = parts[..] else {
            return None;
        };
        let state = match (state, owner) {
            ("held", owner) if owner != "-" => State::Held(owner.to_owned()),
            ("left", "-") => State::Left,
            ("taken", "-") => State::Taken,
            ("removed", "-") => State::Removed,
            _ => return None,
        };
        Some(Self {
            state,
            since: since.parse().ok()?,
            after: after.parse().ok()?,
            guard_bytes: guard_bytes.parse().ok()?,
        })
    }

    fn field(&self) -> (&'static str, String) {
        let (state, owner) = match &self.state {
            State::Held(owner) => ("held", owner.as_str()),
            State::Left => ("left", "-"),
            State::Taken => ("taken", "-"),
            State::Removed => ("removed", "-"),
        };
        let Self {
            since,
            after,
            guard_bytes,
            ..
        } = self;
        (RECORD, format!("{state} {owner} {since} {after} {guard_bytes}"))
    }

    fn after(&self) -> u64 {
        self.after
    }
}

impl Last<Entry> {
    /// The number of the message with which the record began.
    fn since(&self) -> u64 {
        match self.record.since {
            0 => self.record_number,
            since => since,
        }
    }

    /// Guard and content.
    fn into_record(mut self) -> Result<Record, JetStreamError> {
        let unreadable =
            || JetStreamError::Refused("a session in JetStream has another form than expected".to_owned());
        let guard_bytes = self.record.guard_bytes;
        if guard_bytes > self.payload.len() {
            return Err(unreadable());
        }
        let content = self.payload.split_off(guard_bytes);
        let guard = String::from_utf8(self.payload).map_err(|_| unreadable())?;
        Ok(Record {
            guard: guard.into(),
            content,
        })
    }
}

/// The last messages of the records that this server has. Only servers of this program make keys, so clients cannot choose
/// their hashes.
#[derive(Debug, Default)]
pub(super) struct Ends(Mutex<HashMap<Box<str>, End>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    number: u64,
    since: u64,
}

impl Ends {
    pub(super) fn get(&self, key: &str) -> Option<End> {
        self.lock().get(key).copied()
    }

    fn set(&self, key: &str, end: Option<End>) {
        let mut ends = self.lock();
        match end {
            Some(end) => drop(ends.insert(key.into(), end)),
            None => drop(ends.remove(key)),
        }
        if ends.len() * 4 < ends.capacity() {
            let n = ends.len();
            ends.shrink_to(n * 2);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, End>> {
        // A panic under the lock is a bug in this file; without its end a record is read before it is changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a record is to the server that wants to change it.
enum Standing {
    /// There is none. The next message of the subject follows the one with this number.
    Absent {
        after: u64,
    },
    /// The server has it.
    Ours(End),
    NotOurs,
}

impl RecordStore for JetStream {
    type Error = JetStreamError;

    fn records(&self) -> Option<&Records> {
        self.shared.sessions.as_ref().map(|sessions| &sessions.records)
    }

    async fn send_change(
        &self,
        key: &str,
        change: &Change,
        _ttl: Duration,
    ) -> Result<Outcome, JetStreamError> {
        let Some(sessions) = &self.shared.sessions else {
            return Ok(Outcome::Made);
        };
        let changed = async {
            match self.change(key, change, &sessions.ends).await {
                // It never gets there, and what is there is out of date.
                Err(JetStreamError::Unfit(reason)) => {
                    tracing::warn!("A session cannot go on at another server: {reason}.");
                    self.change(key, &Change::Remove, &sessions.ends).await
                }
                outcome => outcome,
            }
        };
        let done = timeout(CHANGE_TIMEOUT, changed).await;
        done.unwrap_or(Err(JetStreamError::Late(CHANGE_TIMEOUT)))
    }

    async fn attempt(
        &self,
        key: &str,
        guard: Option<&str>,
        gone: Option<&str>,
    ) -> Result<Attempt, JetStreamError> {
        if self.shared.sessions.is_none() {
            return Ok(Attempt::Unknown);
        }
        self.in_time(self.try_to_take(&self.shared.subjects.record(key), guard, gone))
            .await
    }

    async fn is_revoked(&self, guard: &str, since: u64) -> Result<bool, JetStreamError> {
        let subject = self.shared.subjects.revoked(guard);
        let revoked = self
            .in_time(self.of_leader::<Entry>(Wanted::Last(&subject)))
            .await?;
        Ok(revoked.is_some_and(|revoked| revoked.number > since))
    }

    async fn is_there(&self, server: &str) -> Result<bool, JetStreamError> {
        Ok(self.shared.beats.is_there(server))
    }

    async fn tell(&self, server: &str, message: Vec<u8>) -> Result<(), JetStreamError> {
        let request = Request {
            subject: self.shared.subjects.probe(server),
            header: Vec::new(),
            payload: message,
        };
        self.in_time(self.shared.requests.publish(request)).await
    }

    async fn is_taken(&self, key: &str) -> Result<bool, JetStreamError> {
        if self.shared.sessions.is_none() {
            return Ok(false);
        }
        let subject = self.shared.subjects.record(key);
        let last = self.in_time(self.last::<Entry>(&subject)).await?;
        Ok(last.is_some_and(|last| last.record.state == State::Taken))
    }

    async fn revoke(&self, guard: &str) -> Result<(), JetStreamError> {
        if self.shared.sessions.is_none() {
            return Ok(());
        }
        let request = Request {
            subject: self.shared.subjects.revoked(guard),
            header: Vec::new(),
            payload: Vec::new(),
        };
        let answer = self.in_time(self.shared.requests.ask(request)).await?;
        acknowledgement(&answer.payload)
            .map(drop)
            .map_err(|error| refused(&error))
    }
}

impl JetStream {
    async fn change(&self, key: &str, change: &Change, ends: &Ends) -> Result<Outcome, JetStreamError> {
        let subject = self.shared.subjects.record(key);
        let mut standing = match (ends.get(key), change) {
            (_, Change::Touch) => None,
            (Some(end), _) => Some(Standing::Ours(end)),
            // Nearly all of these are new.
            (None, Change::Hold(_)) => Some(Standing::Absent { after: 0 }),
            (None, Change::Leave(_) | Change::Remove) => None,
        };
        loop {
            let (last, found) = match standing.take() {
                Some(standing) => (None, standing),
                None => self.standing(&subject).await?,
            };
            let (after, since) = match (found, change) {
                (Standing::NotOurs, _) => {
                    ends.set(key, None);
                    return Ok(Outcome::NotOurs);
                }
                (Standing::Absent { .. }, Change::Touch | Change::Remove) => {
                    ends.set(key, None);
                    return Ok(Outcome::Absent);
                }
                (Standing::Absent { after }, _) => (after, 0),
                (Standing::Ours(end), _) => (end.number, end.since),
            };
            let us = || State::Held(self.shared.name.clone());
            let (state, record) = match change {
                Change::Hold(record) => (us(), record.clone()),
                // What was read is there if it is ours.
                Change::Touch => (us(), last.map(Last::into_record).transpose()?.unwrap_or_default()),
                Change::Leave(record) => (State::Left, record.clone()),
                Change::Remove => (State::Removed, Record::default()),
            };
            let is_held = matches!(state, State::Held(_));
            let entry = Entry {
                state,
                since,
                after,
                guard_bytes: record.guard.len(),
            };
            let payload = [record.guard.as_bytes(), &record.content].concat();
            if let Some(number) = self.append_entry(&subject, &entry, &payload).await? {
                let since = if since == 0 { number } else { since };
                ends.set(key, is_held.then_some(End { number, since }));
                return Ok(Outcome::Made);
            }
        }
    }

    async fn standing(&self, subject: &str) -> Result<(Option<Last<Entry>>, Standing), JetStreamError> {
        let last = self.last::<Entry>(subject).await?;
        let standing = match &last {
            None => Standing::Absent { after: 0 },
            Some(last) => match &last.record.state {
                State::Removed => Standing::Absent { after: last.number },
                State::Held(owner) if *owner == self.shared.name => Standing::Ours(End {
                    number: last.number,
                    since: last.since(),
                }),
                State::Held(_) | State::Left | State::Taken => Standing::NotOurs,
            },
        };
        Ok((last, standing))
    }

    async fn try_to_take(
        &self,
        subject: &str,
        guard: Option<&str>,
        gone: Option<&str>,
    ) -> Result<Attempt, JetStreamError> {
        loop {
            let Some(last) = self.last::<Entry>(subject).await? else {
                return Ok(Attempt::Unknown);
            };
            let (number, since, state) = (last.number, last.since(), last.record.state.clone());
            if matches!(state, State::Taken | State::Removed) {
                return Ok(Attempt::Unknown);
            }
            let record = last.into_record()?;
            if guard.is_some_and(|guard| *guard != *record.guard) {
                return Ok(Attempt::Unknown);
            }
            if let State::Held(owner) = state
                && gone != Some(&*owner)
            {
                return Ok(Attempt::Owned(owner));
            }
            let taken = Entry {
                state: State::Taken,
                since,
                after: number,
                guard_bytes: 0,
            };
            if self.append_entry(subject, &taken, b"").await?.is_some() {
                return Ok(Attempt::Taken { record, since });
            }
        }
    }

    /// Returns the number of the message. `None`: another server was faster, or may have been.
    async fn append_entry(
        &self,
        subject: &str,
        entry: &Entry,
        payload: &[u8],
    ) -> Result<Option<u64>, JetStreamError> {
        match self.store(subject, entry, None, payload).await? {
            write::Outcome::Stored(number) => {
                let is_first = self.is_first(subject, entry, number).await?;
                Ok((is_first == Some(true)).then_some(number))
            }
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_nats::header;

    use super::*;

    #[test]
    fn entries_come_back_as_they_were_written() {
        for (state, expected) in [
            (State::Held("a1".to_owned()), "held a1 3 7 5"),
            (State::Left, "left - 3 7 5"),
            (State::Taken, "taken - 3 7 5"),
            (State::Removed, "removed - 3 7 5"),
        ] {
            let entry = Entry {
                state,
                since: 3,
                after: 7,
                guard_bytes: 5,
            };
            assert_eq!(entry.field(), (RECORD, expected.to_owned()));
            let bytes = header(&[("Other", "x"), (RECORD, expected)]);
            assert_eq!(Entry::read(&Header::read(&bytes)), Some(entry));
        }
    }

    #[test]
    fn other_headers_have_none() {
        for (name, value) in [
            ("Other", "left - 3 7 5"),
            (RECORD, ""),
            (RECORD, "left - 3 7"),
            (RECORD, "left - 3 7 5 6"),
            (RECORD, "held - 3 7 5"),
            (RECORD, "left a1 3 7 5"),
            (RECORD, "lent - 3 7 5"),
            (RECORD, "left - 3 -7 5"),
            (RECORD, "left - 3 7 x"),
        ] {
            let bytes = header(&[(name, value)]);
            assert_eq!(Entry::read(&Header::read(&bytes)), None, "{name}: {value}");
        }
    }

    #[track_caller]
    fn check(guard_bytes: usize, payload: &[u8], expected: Option<(&str, &str)>) {
        let last = Last {
            number: 9,
            record_number: 9,
            record: Entry {
                state: State::Left,
                since: 0,
                after: 0,
                guard_bytes,
            },
            payload: payload.to_vec(),
        };
        assert_eq!(last.since(), 9);
        let expected = expected.map(|(guard, content)| Record {
            guard: guard.into(),
            content: content.into(),
        });
        assert_eq!(last.into_record().ok(), expected, "{guard_bytes} {payload:?}");
    }

    #[test]
    fn a_payload_is_guard_and_content() {
        check(3, b"kaycontent", Some(("kay", "content")));
        check(0, b"content", Some(("", "content")));
        check(3, b"kay", Some(("kay", "")));
        check(4, b"kay", None);
        check(1, "ä".as_bytes(), None);
    }
}
