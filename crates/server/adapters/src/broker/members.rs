//! Which members each server has on which stream, in Redis (docs/reference/redis-broker.md, Presence).
//!
//! A member is present as long as one server says so. A server that dies says nothing more: after a while the others take
//! its members away.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use plimsoll_broker::presence::{Announcement, Change, Listing};
use plimsoll_telemetry::{Counter, Registry};
use redis::cmd;
use tokio::{
    sync::{Notify, watch},
    time::sleep,
};

use super::{Broker, Listener, MEMBER, Source, keys, replies::number, unreadable};
use crate::{
    connection::PATIENCE,
    pipeline::{Request, RequestError},
    resp::Reply,
    supervisor::stopped,
};

/// The wait before changes that Redis did not confirm are sent again.
const BEFORE_REPEAT: Duration = Duration::from_millis(500);

/// The most changes on their way at the same time.
const MAX_UNDER_WAY: usize = 64;

/// The most changes that wait for Redis. Overflow rule: a further one is left out and counted; when a server that hears
/// the stream next reads its members, it finds the difference and makes the change again.
const MAX_WAITING: usize = 100_000;

/// How long Redis keeps the members of a stream that no server looks after.
const LIFETIME: Duration = Duration::from_hours(1);

/// What a server has of a stream's members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members {
    /// The members at all servers.
    pub listing: Listing,
    /// The ids of those that this server has.
    pub ours: Vec<Arc<str>>,
}

/// A member on a stream: the base of the stream's keys, and the id.
type Place = (Arc<str>, Arc<str>);

/// A change of what this server has: the info of a member, or that it has the member no more.
type Wish = Option<Option<Arc<str>>>;

/// Changes that Redis does not know yet. Clients choose the names, so this map's hashes have a random key (ARCHITECTURE,
/// "Hash tables").
#[derive(Debug, Default)]
struct Waiting {
    wishes: HashMap<Place, Wish>,
    order: VecDeque<Place>,
}

/// The changes of this server's members.
#[derive(Debug)]
pub(super) struct Changes {
    /// How long a server may be away before its members are.
    pub(super) ttl: Duration,
    waiting: Mutex<Waiting>,
    changed: Notify,
    left_out: Counter,
}

impl Changes {
    pub(super) fn new(ttl: Duration, registry: &Registry) -> Self {
        Self {
            ttl,
            waiting: Mutex::default(),
            changed: Notify::new(),
            left_out: registry.counter(
                "presence_unsent_total",
                "Changes of members that the broker learns late, because it was away for so long that they found no room",
            ),
        }
    }

    fn add(&self, place: Place, wish: Wish) {
        if self.waiting().add(place, wish) {
            self.changed.notify_one();
        } else {
            self.left_out.increment();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // A panic under the lock is a bug in this file; the other members go on.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Returns whether there is room. A later change of one member replaces an earlier one.
    fn add(&mut self, place: Place, wish: Wish) -> bool {
        let n_waiting = self.wishes.len();
        match self.wishes.entry(place) {
            Entry::Occupied(mut known) => {
                known.insert(wish);
                true
            }
            Entry::Vacant(_) if n_waiting >= MAX_WAITING => false,
            Entry::Vacant(free) => {
                self.order.push_back(free.key().clone());
                free.insert(wish);
                true
            }
        }
    }

    /// Changes of different members, the oldest first.
    fn take(&mut self) -> Vec<(Place, Wish)> {
        let n = self.order.len().min(MAX_UNDER_WAY);
        let places = self.order.drain(..n);
        places
            .filter_map(|place| self.wishes.remove_entry(&place))
            .collect()
    }

    /// A change was not made. One that has come meanwhile is newer.
    fn put_back(&mut self, place: Place, wish: Wish) {
        if let Entry::Vacant(free) = self.wishes.entry(place) {
            self.order.push_front(free.key().clone());
            free.insert(wish);
        }
    }
}

impl Broker {
    /// This server has a member from now on, with this info. Redis learns of it soon.
    pub fn enter(&self, source: Source<'_>, id: &str, info: Option<&str>) {
        self.wish(source, id, Some(info.map(Into::into)));
    }

    /// This server does not have a member any more.
    pub fn exit(&self, source: Source<'_>, id: &str) {
        self.wish(source, id, None);
    }

    fn wish(&self, source: Source<'_>, id: &str, wish: Wish) {
        if let Some(changes) = &self.shared.members {
            changes.add((self.shared.keys.base(source).into(), id.into()), wish);
        }
    }

    /// The members of a stream.
    ///
    /// # Errors
    /// Redis did not answer.
    pub async fn members(&self, source: Source<'_>) -> Result<Members, RequestError> {
        self.members_of(&self.shared.keys.base(source)).await
    }

    pub(super) async fn members_of(&self, base: &str) -> Result<Members, RequestError> {
        let get = cmd("HGETALL").arg(keys::members(base)).to_owned();
        let reply = self
            .shared
            .pipeline
            .request(Request::Command(get), PATIENCE)
            .await?;
        members(reply, &self.shared.name).ok_or_else(unreadable)
    }

    /// The number of the last change of a stream's members, and the servers that have some.
    pub(super) async fn outline(&self, base: &str) -> Result<(u64, Vec<String>), RequestError> {
        let request = |command| self.shared.pipeline.request(Request::Command(command), PATIENCE);
        let lifetime = LIFETIME.as_millis().to_string();
        let expire = |key: Vec<u8>| request(cmd("PEXPIRE").arg(key).arg(&lifetime).to_owned());
        let (number, servers, _, _) = tokio::try_join!(
            request(cmd("HGET").arg(keys::members(base)).arg("n").to_owned()),
            request(cmd("HKEYS").arg(keys::member_counts(base)).to_owned()),
            expire(keys::members(base)),
            expire(keys::member_counts(base)),
        )?;
        let number = match number {
            Reply::Text(text) => super::replies::number(&text).ok_or_else(unreadable)?,
            _ => 0,
        };
        let names = servers.into_elements().into_iter().filter_map(|name| match name {
            Reply::Text(name) => String::from_utf8(name).ok(),
            _ => None,
        });
        Ok((number, names.collect()))
    }

    /// Takes away the members of a server that is gone.
    pub(super) async fn bury<L: Listener>(&self, base: &str, server: &str, listener: &L) {
        let buried = self.change_members(base, ["gone", server], &[]).await;
        match buried {
            Ok(made) => self.tell_of(base, made, None, listener).await,
            // The next check finds them again.
            Err(error) => tracing::debug!(%error, "Members of a server that is gone are still there."),
        }
    }

    /// Sends all changes of members, as they come, until `stop` becomes true.
    pub(super) async fn keep_members<L: Listener>(&self, listener: &L, mut stop: watch::Receiver<bool>) {
        let Some(changes) = &self.shared.members else {
            return;
        };
        tokio::select! {
            () = self.send_members(changes, listener) => {}
            () = stopped(&mut stop) => {}
        }
    }

    async fn send_members<L: Listener>(&self, changes: &Changes, listener: &L) {
        loop {
            let batch = changes.waiting().take();
            if batch.is_empty() {
                changes.changed.notified().await;
                continue;
            }
            let sent = batch.iter().map(|((base, id), wish)| {
                let info = wish.as_ref().map(|info| info.as_deref().unwrap_or_default());
                let rest: Vec<&str> = [&**id].into_iter().chain(info).collect();
                let name = if wish.is_some() { "enter" } else { "exit" };
                let server = &*self.shared.name;
                async move { self.change_members(base, [name, server], &rest).await }
            });
            let outcomes = join_all(sent).await;
            let mut failure = None;
            for ((place, wish), outcome) in batch.into_iter().zip(outcomes) {
                match outcome {
                    Ok(made) => self.tell_of(&place.0, made, wish.flatten(), listener).await,
                    Err(error) => {
                        failure = Some(error);
                        changes.waiting().put_back(place, wish);
                    }
                }
            }
            if let Some(error) = failure {
                tracing::debug!(%error, "Changes of members are sent to the broker again.");
                sleep(BEFORE_REPEAT).await;
            }
        }
    }

    async fn change_members(
        &self,
        base: &str,
        [change, server]: [&str; 2],
        rest: &[&str],
    ) -> Result<Vec<(u8, Arc<str>)>, RequestError> {
        let head = [change.as_bytes().to_vec(), server.into(), keys::channel(base)];
        let lifetime = LIFETIME.as_millis().to_string().into_bytes();
        let script = Request::Script {
            script: &MEMBER,
            keys: vec![keys::members(base), keys::member_counts(base)],
            arguments: head
                .into_iter()
                .chain([lifetime])
                .chain(rest.iter().map(|text| text.as_bytes().to_vec()))
                .collect(),
        };
        let reply = self.shared.pipeline.request(script, PATIENCE).await?;
        let made = reply
            .into_elements()
            .into_iter()
            .filter_map(|change| match change {
                Reply::Text(text) => {
                    let (kind, id) = text.split_first()?;
                    Some((*kind, std::str::from_utf8(id).ok()?.into()))
                }
                _ => None,
            });
        Ok(made.collect())
    }

    /// Tells the listener that this server is the one that has made these changes.
    async fn tell_of<L: Listener>(
        &self,
        base: &str,
        made: Vec<(u8, Arc<str>)>,
        info: Option<Arc<str>>,
        listener: &L,
    ) {
        let Some(source) = self.shared.keys.source(base) else {
            return;
        };
        for (kind, id) in made {
            if let Some(change) = change(kind, || info.clone()) {
                listener.made(source, id, change).await;
            }
        }
    }
}

/// All fields of a stream's members, as this server sees them.
fn members(reply: Reply, server: &str) -> Option<Members> {
    let mut found = Members::default();
    let mut fields = reply.into_elements().into_iter();
    while let (Some(field), Some(value)) = (fields.next(), fields.next()) {
        let (Reply::Text(field), Reply::Text(value)) = (field, value) else {
            return None;
        };
        let field = std::str::from_utf8(&field).ok()?;
        if field == "n" {
            found.listing.number = number(&value)?;
        } else if let Some(id) = field.strip_prefix("i:") {
            let info = std::str::from_utf8(&value).ok()?;
            let info = (!info.is_empty()).then(|| info.into());
            found.listing.members.push((id.into(), info));
        } else if let Some(ours) = field.strip_prefix("s:")
            && let Some(id) = ours.strip_prefix(server).and_then(|rest| rest.strip_prefix(':'))
        {
            found.ours.push(id.into());
        }
    }
    Some(found)
}

/// `number kind length-of-id id info`, behind `= `.
pub(super) fn announcement(text: &[u8]) -> Option<Announcement> {
    let mut parts = text.splitn(4, |byte| *byte == b' ');
    let mut next = || parts.next();
    let (count, kind) = (number(next()?)?, next()?);
    let length = usize::try_from(number(next()?)?).ok()?;
    let rest = std::str::from_utf8(next()?).ok()?;
    let (id, info) = rest.split_at_checked(length)?;
    let &[kind] = kind else {
        return None;
    };
    Some(Announcement {
        number: count,
        id: id.into(),
        change: change(kind, || (!info.is_empty()).then(|| info.into()))?,
    })
}

/// A change by its letter.
fn change(kind: u8, info: impl FnOnce() -> Option<Arc<str>>) -> Option<Change> {
    match kind {
        b'j' => Some(Change::Joined(info())),
        b'u' => Some(Change::Updated(info())),
        b'l' => Some(Change::Left),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(u64, &str, Change)>) {
        let expected = expected.map(|(number, id, change)| Announcement {
            number,
            id: id.into(),
            change,
        });
        assert_eq!(announcement(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn announcements() {
        check("7 j 3 kay", Some((7, "kay", Change::Joined(None))));
        check(
            "8 u 3 kay{\"a\": 1}",
            Some((8, "kay", Change::Updated(Some("{\"a\": 1}".into())))),
        );
        check("9 j 4 k é1", Some((9, "k é", Change::Joined(Some("1".into())))));
        check("9 l 3 kay", Some((9, "kay", Change::Left)));
        for other in [
            "",
            "7",
            "7 j 9 kay",
            "7 x 3 kay",
            "x j 3 kay",
            "7 j 1 é",
            "7 jj 1 a",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn fields_of_members() {
        let text = |text: &str| Reply::Text(text.into());
        let fields = [
            "n",
            "7",
            "i:kay",
            "{}",
            "i:a:b",
            "",
            "v:kay",
            "2",
            "s:me:kay",
            "",
            "s:other:kay",
            "",
            "s:other:a:b",
            "",
        ];
        let found = members(Reply::Array(fields.map(text).into()), "me").expect("they are the script's");
        let expected = Members {
            listing: Listing {
                number: 7,
                members: vec![("kay".into(), Some("{}".into())), ("a:b".into(), None)],
            },
            ours: vec!["kay".into()],
        };
        assert_eq!(found, expected);
        assert_eq!(members(Reply::Array(Vec::new()), "me"), Some(Members::default()));
        assert_eq!(members(Reply::Array(["n", "x"].map(text).into()), "me"), None);
    }

    fn place(id: &str) -> Place {
        ("s".into(), id.into())
    }

    #[test]
    fn the_last_change_of_a_member_is_sent_once() {
        let mut waiting = Waiting::default();
        for (id, wish) in [("a", Some(None)), ("b", Some(None)), ("a", None)] {
            assert!(waiting.add(place(id), wish));
        }
        let batch = waiting.take();
        assert_eq!(batch, [(place("a"), None), (place("b"), Some(None))]);
        assert_eq!(waiting.take(), []);
        assert!(waiting.add(place("b"), None));
        batch
            .into_iter()
            .for_each(|(place, wish)| waiting.put_back(place, wish));
        assert_eq!(
            waiting.take(),
            [(place("a"), None), (place("b"), None)],
            "the newer one of b"
        );
        for n in 0..MAX_WAITING {
            assert!(waiting.add(place(&n.to_string()), None));
        }
        assert!(!waiting.add(place("one more"), None));
        assert!(waiting.add(place("0"), Some(None)));
    }
}
