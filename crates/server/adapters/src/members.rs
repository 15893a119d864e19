//! Which members each server has on which stream, in a store that the servers share (docs/reference/redis-broker.md, Presence;
//! docs/reference/nats-broker.md, Presence).
//!
//! A member is present as long as one server says so. A server that dies says nothing more: after a while the others take
//! its members away.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    fmt::{Debug, Display},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use plimsoll_broker::presence::{Change, Listing};
use plimsoll_telemetry::{Counter, Registry};
use tokio::{
    sync::{Notify, watch},
    time::sleep,
};

use crate::{
    broker::{Listener, Source},
    supervisor::stopped,
};

mod mirrors;
#[cfg(test)]
pub(crate) mod scenarios;

pub(crate) use mirrors::{Mirrored, Mirrors, next_answer};

/// The wait before changes that the store did not confirm are sent again.
const BEFORE_REPEAT: Duration = Duration::from_millis(500);

/// The most changes on their way at the same time.
const MAX_UNDER_WAY: usize = 64;

/// The most changes that wait for the store. Overflow rule: a further one is left out and counted; when a server that hears
/// the stream next reads its members, it finds the difference and makes the change again.
const MAX_WAITING: usize = 100_000;

/// How long the store keeps the members of a stream that no server looks after.
pub(crate) const LIFETIME: Duration = Duration::from_hours(1);

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

/// What a server has of a member: its info, or nothing.
pub(crate) type Wish = Option<Option<Arc<str>>>;

/// Changes that the store does not know yet. Clients choose the names, so this map's hashes have a random key (ARCHITECTURE,
/// "Hash tables").
#[derive(Debug, Default)]
struct Waiting {
    wishes: HashMap<Place, Wish>,
    order: VecDeque<Place>,
}

/// The changes of this server's members.
#[derive(Debug)]
pub struct Changes {
    /// How long a server may be away before its members are.
    pub(crate) ttl: Duration,
    waiting: Mutex<Waiting>,
    changed: Notify,
    left_out: Counter,
}

impl Changes {
    pub(crate) fn new(ttl: Duration, registry: &Registry) -> Self {
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

/// A store with members.
pub trait MemberStore: Debug + Clone + Send + Sync + 'static {
    /// Why members could not be read or changed.
    type Error: Display + Send;

    /// The changes of this server's members. `None`: there are no members.
    fn changes(&self) -> Option<&Changes>;

    /// The name of this server.
    fn name(&self) -> &str;

    /// The beginning of all names of a stream.
    fn base_of(&self, source: Source<'_>) -> String;

    /// The stream that a beginning belongs to.
    fn source_of<'a>(&self, base: &'a str) -> Option<Source<'a>>;

    /// Changes what a server has of a member. Returns what that changes for clients, and announces it.
    fn change_member(
        &self,
        base: &str,
        server: &str,
        id: &str,
        wish: &Wish,
    ) -> impl Future<Output = Result<Vec<(Arc<str>, Change)>, Self::Error>> + Send;

    /// Reads the members of a stream.
    fn read_members(&self, base: &str) -> impl Future<Output = Result<Members, Self::Error>> + Send;

    /// This server has a member from now on, with this info. The store learns of it soon.
    fn enter(&self, source: Source<'_>, id: &str, info: Option<&str>) {
        wish(self, source, id, Some(info.map(Into::into)));
    }

    /// This server does not have a member any more.
    fn exit(&self, source: Source<'_>, id: &str) {
        wish(self, source, id, None);
    }

    /// The members of a stream.
    ///
    /// # Errors
    /// The store did not answer.
    fn members(&self, source: Source<'_>) -> impl Future<Output = Result<Members, Self::Error>> + Send {
        let base = self.base_of(source);
        async move { self.read_members(&base).await }
    }
}

fn wish(store: &impl MemberStore, source: Source<'_>, id: &str, wish: Wish) {
    if let Some(changes) = store.changes() {
        changes.add((store.base_of(source).into(), id.into()), wish);
    }
}

/// Sends all changes of members, as they come, until `stop` becomes true.
pub(crate) async fn keep_members(
    store: &impl MemberStore,
    listener: &impl Listener,
    mut stop: watch::Receiver<bool>,
) {
    let Some(changes) = store.changes() else {
        return;
    };
    tokio::select! {
        () = send_all(store, changes, listener) => {}
        () = stopped(&mut stop) => {}
    }
}

async fn send_all(store: &impl MemberStore, changes: &Changes, listener: &impl Listener) {
    loop {
        let batch = changes.waiting().take();
        if batch.is_empty() {
            changes.changed.notified().await;
            continue;
        }
        let sent = batch
            .iter()
            .map(|((base, id), wish)| store.change_member(base, store.name(), id, wish));
        let outcomes = join_all(sent).await;
        let mut failure = None;
        for ((place, wish), outcome) in batch.into_iter().zip(outcomes) {
            match outcome {
                Ok(made) => tell_of(store, &place.0, made, listener).await,
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

/// Tells the listener that this server is the one that has made these changes.
pub(crate) async fn tell_of(
    store: &impl MemberStore,
    base: &str,
    made: Vec<(Arc<str>, Change)>,
    listener: &impl Listener,
) {
    let Some(source) = store.source_of(base) else {
        return;
    };
    for (id, change) in made {
        listener.made(source, id, change).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
