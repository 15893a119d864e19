//! Which servers are there: each says so on one subject, and hears all.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::watch, time::Instant};

use super::{JetStream, requests::Request};
use crate::pulse::ALIVE_FOR;

/// The most servers. Overflow rule: a further one seems gone, until one that is gone makes room.
const MAX_SERVERS: usize = 1000;

/// The longest name of a server, in bytes. Those of this program are shorter.
const MAX_NAME_BYTES: usize = 64;

/// The servers that were heard lately.
#[derive(Debug, Default)]
pub(super) struct Beats(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    /// `None`: nothing is heard.
    since: Option<Instant>,
    /// Every program that may publish in NATS can choose names, so this map's hashes have a random key (ARCHITECTURE, "Hash tables").
    servers: HashMap<Box<str>, Instant>,
}

impl Beats {
    /// Every server that is there is heard from now on, or none is.
    pub(super) fn set_hearing(&self, is_hearing: bool) {
        self.lock().since = is_hearing.then(Instant::now);
    }

    /// A server says that it is there.
    pub(super) fn heard(&self, name: &[u8]) {
        let Some(name) = std::str::from_utf8(name)
            .ok()
            .filter(|name| name.len() <= MAX_NAME_BYTES)
        else {
            return;
        };
        let mut heard = self.lock();
        if heard.servers.len() >= MAX_SERVERS {
            heard.servers.retain(|_, at| is_recent(*at));
        }
        if heard.servers.len() < MAX_SERVERS || heard.servers.contains_key(name) {
            heard.servers.insert(name.into(), Instant::now());
        }
    }

    /// Whether a server is there. When this one has not listened for long enough, it seems to be.
    pub(super) fn is_there(&self, name: &str) -> bool {
        let heard = self.lock();
        heard.since.is_none_or(is_recent) || heard.servers.get(name).is_some_and(|at| is_recent(*at))
    }

    /// The number of servers that are there.
    pub(super) fn number(&self) -> usize {
        let mut heard = self.lock();
        heard.servers.retain(|_, at| is_recent(*at));
        heard.servers.len()
    }

    /// The servers that are there. None: this one has not listened for long enough.
    pub(super) fn alive(&self) -> HashSet<String> {
        let heard = self.lock();
        if heard.since.is_none_or(is_recent) {
            return HashSet::new();
        }
        let recent = heard.servers.iter().filter(|(_, at)| is_recent(**at));
        recent.map(|(name, _)| name.to_string()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        // A panic under the lock is a bug in this file; the other servers stay known.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JetStream {
    /// Says that this server is there, until `stop` becomes true.
    pub(super) async fn beat(&self, stop: watch::Receiver<bool>) {
        let beat = async || {
            let beat = Request {
                subject: self.shared.subjects.beats(),
                header: Vec::new(),
                payload: self.shared.name.clone().into(),
            };
            let sent = self.shared.requests.publish(beat).await;
            sent.ok().map(|()| self.shared.beats.number())
        };
        self.shared.pulse.run(beat, stop).await;
    }
}

fn is_recent(at: Instant) -> bool {
    at.elapsed() < ALIVE_FOR
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_is_gone_when_it_was_silent_for_long_enough() {
        let beats = Beats::default();
        assert!(beats.is_there("a"), "nothing is heard");
        beats.set_hearing(true);
        assert!(beats.is_there("a"), "it may be about to speak");
        advance(ALIVE_FOR).await;
        assert!(!beats.is_there("a"));
        beats.heard(b"a");
        advance(ALIVE_FOR - Duration::from_millis(1)).await;
        beats.heard(b"b");
        assert!(beats.is_there("a") && beats.is_there("b"));
        assert_eq!(beats.number(), 2);
        assert_eq!(beats.alive(), HashSet::from(["a".to_owned(), "b".to_owned()]));
        advance(Duration::from_millis(1)).await;
        assert!(!beats.is_there("a") && beats.is_there("b"));
        assert_eq!(beats.number(), 1);
        advance(ALIVE_FOR).await;
        beats.set_hearing(false);
        assert!(beats.is_there("a"), "it may have spoken meanwhile");
        beats.heard(b"a");
        assert_eq!(beats.alive(), HashSet::new());
    }

    #[tokio::test(start_paused = true)]
    async fn other_programs_cannot_fill_the_memory() {
        let beats = Beats::default();
        beats.set_hearing(true);
        advance(ALIVE_FOR).await;
        (0..2 * MAX_SERVERS).for_each(|n| beats.heard(n.to_string().as_bytes()));
        beats.heard("x".repeat(MAX_NAME_BYTES + 1).as_bytes());
        beats.heard(b"\xff");
        assert_eq!(beats.number(), MAX_SERVERS);
        assert!(beats.is_there("0"));
        advance(ALIVE_FOR).await;
        beats.heard(b"late");
        assert!(beats.is_there("late"));
        assert_eq!(beats.number(), 1);
    }
}
