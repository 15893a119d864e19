//! Which members each server has on which stream, in JetStream (docs/reference/nats-broker.md, Presence).
//!
//! Each member of a stream is the last message on a subject of its own: its info, and the servers that have it. A change
//! names the message that it follows, as with logs ([`super::write`]). JetStream announces what it has stored, and counts the
//! messages of all members together; a [`Register`] makes of both what clients are told.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use plimsoll_broker::presence::{Announcement, Change, Entry, Register, change};
use plimsoll_nats::{
    Header, Message,
    jetstream::{NUMBER, NUMBER_BEFORE, Wanted},
};
use tokio::time::timeout;

use super::{
    JetStream, JetStreamError, Streams, now_ms,
    read::{Chained, Last},
    write,
};
use crate::{
    broker::{Listener, Source},
    connection::PATIENCE,
    members::{Changes, LIFETIME, MemberStore, Members, Mirrored, Wish, tell_of},
};

/// The field of a change.
const MEMBER: &str = "Plimsoll-Member";

/// What this server needs for members.
#[derive(Debug)]
pub(super) struct Presence {
    pub(super) changes: Changes,
    pub(super) registers: Registers,
}

/// The members of the streams that this server hears. Backends and clients choose the names of the streams, so this map's
/// hashes have a random key (ARCHITECTURE, "Hash tables").
#[derive(Debug, Default)]
pub(super) struct Registers(Mutex<HashMap<Box<str>, Register>>);

impl Registers {
    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Register>> {
        // A panic under the lock is a bug in this file; the other streams go on.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A change of a member, without its id and info.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// See [`Chained::after`].
    after: u64,
    /// The time at which it was written, in milliseconds of Unix time.
    written_ms: u64,
    /// The length of the id, with which the payload begins, in bytes.
    id_bytes: usize,
    /// The servers that have the member. None: it is gone.
    servers: Vec<Arc<str>>,
}

impl Chained for Head {
    fn stream(streams: &Streams) -> &str {
        &streams.members
    }

    fn read(header: &Header<'_>) -> Option<Self> {
        let parts: Vec<_> = header.get(MEMBER)?.split(' ').collect();
        let [after, written_ms, id_bytes, servers] = parts[..] else {
            return None;
        };
        let servers = servers.split(',').filter(|name| *name != "-");
        Some(Self {
            after: after.parse().ok()?,
            written_ms: written_ms.parse().ok()?,
            id_bytes: id_bytes.parse().ok()?,
            servers: servers.map(Into::into).collect(),
        })
    }

    fn field(&self) -> (&'static str, String) {
        let Self {
            after,
            written_ms,
            id_bytes,
            servers,
        } = self;
        let servers = if servers.is_empty() {
            "-".to_owned()
        } else {
            servers.join(",")
        };
        (MEMBER, format!("{after} {written_ms} {id_bytes} {servers}"))
    }

    fn after(&self) -> u64 {
        self.after
    }
}

impl Head {
    fn is_old(&self) -> bool {
        let age_ms = now_ms().saturating_sub(self.written_ms);
        u128::from(age_ms) >= LIFETIME.as_millis() / 2
    }

    /// The change with its id and info. `None`: the payload is another program's.
    fn entry(self, number: u64, payload: Vec<u8>) -> Option<Entry> {
        let payload = String::from_utf8(payload).ok()?;
        let (id, info) = payload.split_at_checked(self.id_bytes)?;
        Some(Entry {
            number,
            after: self.after,
            id: id.into(),
            servers: self.servers,
            info: (!info.is_empty()).then(|| info.into()),
        })
    }
}

/// A member as it is.
#[derive(Debug, Default)]
struct Member {
    servers: Vec<Arc<str>>,
    info: Option<Arc<str>>,
}

impl Member {
    #[expect(clippy::option_option, reason = "a member may have no info")]
    fn for_clients(&self) -> Option<Option<Arc<str>>> {
        (!self.servers.is_empty()).then(|| self.info.clone())
    }

    /// What it becomes when a server has this of it. Returns whether that is something else.
    fn changed(&self, server: &str, wish: &Wish) -> (Self, bool) {
        let mut servers: BTreeSet<Arc<str>> = self.servers.iter().cloned().collect();
        let (is_other, info) = match wish {
            Some(info) => (servers.insert(server.into()) || *info != self.info, info.clone()),
            None => (servers.remove(server), self.info.clone()),
        };
        let info = info.filter(|_| !servers.is_empty());
        let servers = servers.into_iter().collect();
        (Self { servers, info }, is_other)
    }
}

impl MemberStore for JetStream {
    type Error = JetStreamError;

    fn changes(&self) -> Option<&Changes> {
        self.shared.presence.as_ref().map(|presence| &presence.changes)
    }

    fn name(&self) -> &str {
        &self.shared.name
    }

    fn base_of(&self, source: Source<'_>) -> String {
        self.shared.keys.base(source)
    }

    fn source_of<'a>(&self, base: &'a str) -> Option<Source<'a>> {
        self.shared.keys.source(base)
    }

    async fn change_member(
        &self,
        base: &str,
        server: &str,
        id: &str,
        wish: &Wish,
    ) -> Result<Vec<(Arc<str>, Change)>, JetStreamError> {
        let subject = self.shared.subjects.member(base, id);
        let done = timeout(PATIENCE, self.change_at(&subject, server, id, wish)).await;
        match done.unwrap_or(Err(JetStreamError::Late(PATIENCE))) {
            // It never gets there.
            Err(JetStreamError::Unfit(reason)) => {
                tracing::warn!("A member is present for the clients of this server only: {reason}.");
                Ok(Vec::new())
            }
            made => made.map(|change| change.map(|change| (id.into(), change)).into_iter().collect()),
        }
    }

    async fn read_members(&self, base: &str) -> Result<Members, JetStreamError> {
        let read = self.list(base).await?;
        Ok(self.members_in(read, &mut Register::default()))
    }
}

impl Mirrored for JetStream {
    fn begin(&self, base: &str) {
        if let Some(presence) = &self.shared.presence {
            presence.registers.lock().entry(base.into()).or_default().begin();
        }
    }

    async fn read_followed(&self, base: &str) -> Result<Members, JetStreamError> {
        let read = self.list(base).await?;
        let presence = self.shared.presence.as_ref();
        let mut registers = presence.map(|presence| presence.registers.lock());
        let register = registers.as_mut().and_then(|registers| registers.get_mut(base));
        // It may have been forgotten meanwhile.
        Ok(self.members_in(read, register.unwrap_or(&mut Register::default())))
    }

    fn set_known(&self, base: &str) {
        self.shared.table.set_members_known(base);
    }

    async fn outline(&self, base: &str) -> Result<(u64, Vec<String>), JetStreamError> {
        let all = self.shared.subjects.members(base);
        let last = self.in_time(self.of_leader::<Head>(Wanted::Last(&all))).await?;
        let servers = self.with_register(base, |register| {
            let servers = register.servers().into_iter();
            servers.map(ToString::to_string).collect()
        });
        Ok((last.map_or(0, |last| last.number), servers.unwrap_or_default()))
    }

    fn is_current(&self, base: &str, number: u64, _listener: &impl Listener) -> bool {
        self.with_register(base, |register| register.is_at(number))
            .unwrap_or(true)
    }

    async fn alive(&self) -> Result<HashSet<String>, JetStreamError> {
        Ok(self.shared.beats.alive())
    }

    async fn bury(&self, base: &str, server: &str, listener: &impl Listener) -> Result<(), JetStreamError> {
        let ids = self.with_register(base, |register| register.of(server).cloned().collect::<Vec<_>>());
        for id in ids.into_iter().flatten() {
            let made = self.change_member(base, server, &id, &None).await?;
            tell_of(self, base, made, listener).await;
        }
        Ok(())
    }

    fn forget(&self, base: &str) {
        if let Some(presence) = &self.shared.presence {
            let mut registers = presence.registers.lock();
            registers.remove(base);
            if registers.len() * 4 < registers.capacity() {
                let n = registers.len();
                registers.shrink_to(n * 2);
            }
        }
    }
}

impl JetStream {
    /// Takes what JetStream announces of a member. Returns what it changes for clients.
    pub(super) fn hear_member(&self, base: &str, message: Message) -> Option<Announcement> {
        let header = Header::read(&message.header);
        let (number, before) = header.number(NUMBER).zip(header.number(NUMBER_BEFORE))?;
        let head = Head::read(&header)?;
        // It does not count; see [`super::write`].
        if before > head.after {
            self.with_register(base, |register| register.skip(number));
            return None;
        }
        let entry = head.entry(number, message.payload)?;
        self.with_register(base, |register| register.hear(entry))
            .flatten()
    }

    fn with_register<T>(&self, base: &str, work: impl FnOnce(&mut Register) -> T) -> Option<T> {
        let presence = self.shared.presence.as_ref()?;
        presence.registers.lock().get_mut(base).map(work)
    }

    /// What was read as members, of which this server has some.
    fn members_in(&self, read: Vec<(Entry, bool)>, register: &mut Register) -> Members {
        let is_ours = |entry: &Entry| entry.servers.iter().any(|name| **name == *self.shared.name);
        let mut ours = BTreeSet::new();
        for (entry, is_old) in &read {
            // What is old must be written again.
            if is_ours(entry) && !is_old {
                ours.insert(Arc::clone(&entry.id));
            } else {
                ours.remove(&entry.id);
            }
        }
        Members {
            listing: register.take(read.into_iter().map(|(entry, _)| entry).collect()),
            ours: ours.into_iter().collect(),
        }
    }

    /// All changes of a stream's members that JetStream keeps, in the order of their numbers, and whether they are old.
    async fn list(&self, base: &str) -> Result<Vec<(Entry, bool)>, JetStreamError> {
        let all = self.shared.subjects.members(base);
        let Some(last) = self.in_time(self.of_leader::<Head>(Wanted::Last(&all))).await? else {
            return Ok(Vec::new());
        };
        let (mut read, mut number) = (Vec::new(), 0);
        while number < last.number {
            let next = self.of_any::<Head>(Wanted::Next(&all, number + 1));
            let Some(stored) = self.in_time(next).await? else {
                break;
            };
            number = stored.number;
            // Other programs may have written some.
            let Some(head) = stored.record else {
                continue;
            };
            let is_old = head.is_old();
            read.extend(head.entry(number, stored.payload).map(|entry| (entry, is_old)));
        }
        Ok(read)
    }

    /// Changes a member. Returns what that changes for clients.
    async fn change_at(
        &self,
        subject: &str,
        server: &str,
        id: &str,
        wish: &Wish,
    ) -> Result<Option<Change>, JetStreamError> {
        loop {
            let last = self.last::<Head>(subject).await?;
            let is_old = last.as_ref().is_some_and(|last| last.record.is_old());
            let (after, before) = last.map_or((0, Member::default()), Last::into_member);
            let (member, is_other) = before.changed(server, wish);
            let must_last = is_old && wish.is_some();
            if !is_other && !must_last {
                return Ok(None);
            }
            let head = Head {
                after,
                written_ms: now_ms(),
                id_bytes: id.len(),
                servers: member.servers.clone(),
            };
            let payload = [id, member.info.as_deref().unwrap_or_default()].concat();
            let stored = self.store(subject, &head, None, payload.as_bytes()).await?;
            if let write::Outcome::Stored(number) = stored
                && self.is_first(subject, &head, number).await? == Some(true)
            {
                return Ok(change(before.for_clients(), member.for_clients()));
            }
        }
    }
}

impl Last<Head> {
    /// The number of the subject's last message, and the member.
    fn into_member(self) -> (u64, Member) {
        let number = self.number;
        let entry = self.record.entry(self.record_number, self.payload);
        let member = entry.map_or_else(Member::default, |Entry { servers, info, .. }| Member {
            servers,
            info,
        });
        (number, member)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_nats::header;

    use super::*;

    #[test]
    fn heads_come_back_as_they_were_written() {
        for (servers, expected) in [
            (&["a1", "b2"][..], "7 90 3 a1,b2"),
            (&["a1"], "7 90 3 a1"),
            (&[], "7 90 3 -"),
        ] {
            let head = Head {
                after: 7,
                written_ms: 90,
                id_bytes: 3,
                servers: servers.iter().map(|name| (*name).into()).collect(),
            };
            assert_eq!(head.field(), (MEMBER, expected.to_owned()));
            let bytes = header(&[("Other", "x"), (MEMBER, expected)]);
            assert_eq!(Head::read(&Header::read(&bytes)), Some(head));
        }
        for (name, value) in [
            ("Other", "7 90 3 -"),
            (MEMBER, ""),
            (MEMBER, "7 90 3"),
            (MEMBER, "7 90 3 - -"),
            (MEMBER, "x 90 3 -"),
            (MEMBER, "7 90 -3 -"),
        ] {
            let bytes = header(&[(name, value)]);
            assert_eq!(Head::read(&Header::read(&bytes)), None, "{name}: {value}");
        }
    }

    #[track_caller]
    fn check_payload(id_bytes: usize, payload: &[u8], expected: Option<(&str, Option<&str>)>) {
        let head = Head {
            after: 0,
            written_ms: 0,
            id_bytes,
            servers: vec!["a".into()],
        };
        let entry = head.entry(1, payload.to_vec());
        let found = entry.as_ref().map(|entry| (&*entry.id, entry.info.as_deref()));
        assert_eq!(found, expected, "{id_bytes} {payload:?}");
    }

    #[test]
    fn a_payload_is_id_and_info() {
        check_payload(3, b"kay{}", Some(("kay", Some("{}"))));
        check_payload(3, b"kay", Some(("kay", None)));
        check_payload(4, b"kay", None);
        check_payload(1, "\u{e4}".as_bytes(), None);
        check_payload(1, b"\xff", None);
    }

    /// `servers info` before and after, with `-` for none.
    #[track_caller]
    fn check_change(before: &str, server: &str, wish: Option<Option<&str>>, expected: (&str, bool)) {
        let (servers, info) = before.split_once(' ').expect("two parts");
        let member = Member {
            servers: servers
                .split(',')
                .filter(|name| *name != "-")
                .map(Into::into)
                .collect(),
            info: (info != "-").then(|| info.into()),
        };
        let (member, is_other) = member.changed(server, &wish.map(|info| info.map(Into::into)));
        let servers = if member.servers.is_empty() {
            "-".to_owned()
        } else {
            member.servers.join(",")
        };
        let after = format!("{servers} {}", member.info.as_deref().unwrap_or("-"));
        assert_eq!((&*after, is_other), expected, "{before} {server} {wish:?}");
    }

    #[test]
    fn a_member_is_there_as_long_as_one_server_has_it() {
        check_change("- -", "a", Some(Some("1")), ("a 1", true));
        check_change("a 1", "b", Some(Some("1")), ("a,b 1", true));
        check_change("a,b 1", "b", Some(Some("1")), ("a,b 1", false));
        check_change("a,b 1", "b", Some(None), ("a,b -", true));
        check_change("a,b 1", "a", None, ("b 1", true));
        check_change("b 1", "a", None, ("b 1", false));
        check_change("b 1", "b", None, ("- -", true));
    }
}
