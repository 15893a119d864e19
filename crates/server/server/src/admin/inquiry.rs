//! Questions of operators to all shards, and what the answers of the shards make together.

use std::cmp::Reverse;

use serde::Serialize;
use tokio::sync::mpsc;

/// The most sessions in an answer.
pub(crate) const MAX_SESSIONS: usize = 50;

/// The most streams, and the most channels, in an answer.
pub(crate) const MAX_NAMES: usize = 100;

/// The most names in a shard's part of an answer. It is more than [`MAX_NAMES`], because a name may be great only on all
/// shards together.
const MAX_NAMES_OF_SHARD: usize = 1000;

/// A question, or an order, to each shard. Each sends its part of the answer, and the channel closes behind the last one.
#[derive(Debug)]
pub(crate) enum Inquiry {
    /// Which sessions have a text in their id, in their identifiers, or in the name of a stream?
    Sessions {
        text: Box<str>,
        answers: mpsc::Sender<Matches<Session>>,
    },
    /// Which streams and channels have a text in their name, and how many listeners?
    Names {
        text: Box<str>,
        answers: mpsc::Sender<Names>,
    },
    /// End the session with this id.
    Disconnect {
        sid: Box<str>,
        reconnect: bool,
        /// Gets a value from the shard that has the session.
        answers: mpsc::Sender<()>,
    },
}

/// What was found: the number of all, and some of them.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Matches<T> {
    pub(crate) total: usize,
    pub(crate) listed: Vec<T>,
}

/// A session, as an operator sees it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Session {
    pub(crate) sid: String,
    pub(crate) transport: &'static str,
    pub(crate) shard: usize,
    /// The beginning of what the application calls the client; empty without it.
    pub(crate) identifiers: String,
    /// The beginnings of some names of streams, with the identifiers of their subscriptions.
    pub(crate) subscriptions: Vec<Subscription>,
    /// The number of all subscriptions to streams.
    pub(crate) n_subscriptions: usize,
    pub(crate) pending_bytes: usize,
}

/// A stream that a session listens to.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Subscription {
    /// `None`: the session gets the messages bare.
    pub(crate) identifier: Option<String>,
    pub(crate) stream: String,
}

/// Names with their listeners.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) streams: Listeners,
    pub(crate) channels: Listeners,
}

/// Listeners by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listeners {
    /// The greatest, after [`settle`](Self::settle) in falling order.
    names: Vec<Listened>,
}

/// One name with its listeners.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Listened {
    pub(crate) name: Box<str>,
    pub(crate) listeners: usize,
}

impl<T> Matches<T> {
    /// Adds what another shard found.
    pub(crate) fn merge(&mut self, other: Self) {
        self.total += other.total;
        self.listed.extend(other.listed);
    }
}

impl<T> Default for Matches<T> {
    fn default() -> Self {
        Self {
            total: 0,
            listed: Vec::new(),
        }
    }
}

impl Listeners {
    /// Adds a name, which may be there already.
    pub(crate) fn add(&mut self, name: &str, listeners: usize) {
        self.names.push(Listened {
            name: name.into(),
            listeners,
        });
        if self.names.len() >= 2 * MAX_NAMES_OF_SHARD {
            self.settle(MAX_NAMES_OF_SHARD);
        }
    }

    /// Adds the listeners of another shard.
    pub(crate) fn merge(&mut self, other: Self) {
        self.names.extend(other.names);
    }

    /// Adds up the listeners of each name, and keeps the `n` names with most of them.
    fn settle(&mut self, n: usize) {
        self.names.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        self.names.dedup_by(|later, earlier| {
            let is_same = later.name == earlier.name;
            if is_same {
                earlier.listeners += later.listeners;
            }
            is_same
        });
        // Stable, so that equal ones stay in the order of their names.
        self.names.sort_by_key(|listened| Reverse(listened.listeners));
        self.names.truncate(n);
    }

    /// A shard's part of the answer.
    pub(crate) fn of_shard(mut self) -> Self {
        self.settle(MAX_NAMES_OF_SHARD);
        self
    }

    /// The names with most listeners, in falling order.
    pub(crate) fn into_greatest(mut self) -> Vec<Listened> {
        self.settle(MAX_NAMES);
        self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listeners(names: &[(&str, usize)]) -> Listeners {
        let mut listeners = Listeners::default();
        names.iter().for_each(|(name, n)| listeners.add(name, *n));
        listeners
    }

    fn greatest(listeners: Listeners) -> Vec<(String, usize)> {
        let greatest = listeners.into_greatest().into_iter();
        greatest.map(|one| (one.name.into(), one.listeners)).collect()
    }

    #[test]
    fn names_of_several_shards_are_added_up() {
        let mut all = listeners(&[("a", 1), ("b", 3)]).of_shard();
        all.merge(listeners(&[("c", 2), ("a", 4)]).of_shard());
        assert_eq!(greatest(all), [("a".into(), 5), ("b".into(), 3), ("c".into(), 2)]);
    }

    #[test]
    fn of_many_names_those_with_most_listeners_are_kept() {
        let mut many = Listeners::default();
        for n in 0..10_000 {
            many.add(&format!("{n:05}"), n);
            assert!(many.names.len() < 2 * MAX_NAMES_OF_SHARD);
        }
        let part = many.of_shard();
        assert_eq!(part.names.len(), MAX_NAMES_OF_SHARD);
        let greatest = greatest(part);
        assert_eq!(greatest.len(), MAX_NAMES);
        assert_eq!(greatest[0], ("09999".into(), 9999));
        assert_eq!(greatest[99], ("09900".into(), 9900));
    }
}
