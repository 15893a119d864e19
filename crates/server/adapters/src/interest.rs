//! The channels that a node has reasons to hear. All shards give reasons; one task makes the subscriptions follow.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::Registry;
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};

use self::channels::Channels;
pub(crate) use self::channels::Command;

mod channels;

/// The channels of one connection. A clone is the same set.
#[derive(Debug, Clone)]
pub struct Interest(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Wakes the task that owns the subscriptions.
    work: Notify,
}

#[derive(Debug)]
struct State {
    channels: Channels,
    /// Those who wait until a channel is heard.
    waiting: HashMap<Arc<str>, Vec<oneshot::Sender<()>>>,
    deafness: Deafness,
}

/// The time in which messages of other nodes were missed, or would have been.
#[derive(Debug)]
struct Deafness {
    earlier: Duration,
    /// `None` while all channels are heard.
    since: Option<Instant>,
}

impl Deafness {
    fn total(&self) -> Duration {
        self.earlier + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn ends(&mut self) {
        self.earlier = self.total();
        self.since = None;
    }
}

impl Default for Interest {
    /// No channels, and no connection yet.
    fn default() -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                channels: Channels::default(),
                waiting: HashMap::new(),
                deafness: Deafness {
                    earlier: Duration::ZERO,
                    since: Some(Instant::now()),
                },
            }),
            work: Notify::new(),
        }))
    }
}

impl Interest {
    /// Shows the state as metrics.
    pub fn register(&self, registry: &Registry) {
        let of = |value: fn(&State) -> f64| {
            let interest = self.clone();
            move || value(&interest.state())
        };
        registry.gauge_fn(
            "cluster_channels_num",
            "Channels of the cluster's engine that this server is subscribed to",
            of(|state| state.channels.n_heard() as f64),
        );
        registry.gauge_fn(
            "cluster_deaf_seconds",
            "Time since the start in which messages of the cluster could not reach this server, in seconds",
            of(|state| state.deafness.total().as_secs_f64()),
        );
    }

    /// There is one more reason to hear a channel.
    pub fn join(&self, channel: &str) {
        if self.state().channels.join(channel) {
            self.0.work.notify_one();
        }
    }

    /// There is one reason less. The channel stays subscribed for two seconds after its last one.
    pub fn leave(&self, channel: &str) {
        let mut state = self.state();
        if state.channels.leave(channel, Instant::now()) {
            self.0.work.notify_one();
        }
        // A task that waits is one of the reasons, so none is left to wait.
        if !state.channels.has_reasons(channel) {
            state.waiting.remove(channel);
        }
    }

    /// Completes when a channel is heard, or when the connection is lost. `None`: one of both is so already. The channel
    /// was joined before.
    pub fn heard(&self, channel: &str) -> Option<impl Future<Output = ()> + Send + use<>> {
        let mut state = self.state();
        if state.channels.is_heard(channel) || !state.channels.is_connected() {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        state.waiting.entry(channel.into()).or_default().push(sender);
        // If the connection is lost, the sender is dropped.
        Some(async { drop(receiver.await) })
    }

    /// A new connection has no subscriptions.
    pub(crate) fn connected(&self) {
        self.state().channels.connected();
    }

    /// The connection is lost.
    pub(crate) fn disconnected(&self) {
        let mut state = self.state();
        state.channels.disconnected();
        state.waiting.clear();
        state.deafness.since.get_or_insert_with(Instant::now);
    }

    /// The next command to send, if there is one.
    pub(crate) fn next_command(&self) -> Option<Command> {
        self.state().channels.next_command(Instant::now())
    }

    /// A command about this channel has taken effect.
    pub(crate) fn confirmed(&self, channel: &str) {
        let mut state = self.state();
        state.channels.confirmed(channel);
        if state.channels.is_heard(channel)
            && let Some(waiting) = state.waiting.remove(channel)
        {
            for waiting in waiting {
                // One that gave up is not there any more.
                let _told = waiting.send(());
            }
        }
    }

    /// Whether the node hears all channels again. True once for each connection.
    pub(crate) fn is_restored_now(&self) -> bool {
        let mut state = self.state();
        let is_restored = state.deafness.since.is_some() && state.channels.is_restored();
        if is_restored {
            state.deafness.ends();
        }
        is_restored
    }

    /// Waits until there may be something to send. Dropping the future loses nothing.
    pub(crate) async fn changed(&self) {
        let next_end = self.state().channels.next_end();
        match next_end {
            Some(end) => {
                let _changed_or_ended = tokio::time::timeout_at(end, self.0.work.notified()).await;
            }
            None => self.0.work.notified().await,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic under the lock is a bug in this module; sessions go on.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends everything, and confirms it.
    fn follow(interest: &Interest) -> bool {
        while let Some(Command::Subscribe(names) | Command::Unsubscribe(names)) = interest.next_command() {
            for name in names {
                interest.confirmed(&name);
            }
        }
        interest.is_restored_now()
    }

    fn deaf_seconds(interest: &Interest) -> u64 {
        interest.state().deafness.total().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_wait_are_told_when_the_channel_is_heard_or_the_connection_is_lost() {
        let interest = Interest::default();
        interest.join("a");
        assert!(interest.heard("a").is_none(), "there is no connection");
        interest.connected();
        let heard = tokio::spawn(interest.heard("a").expect("it is not heard yet"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!heard.is_finished());
        assert!(follow(&interest));
        heard.await.expect("it is heard");
        assert!(interest.heard("a").is_none());
        interest.join("b");
        let lost = tokio::spawn(interest.heard("b").expect("it is not heard yet"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!lost.is_finished());
        interest.disconnected();
        lost.await.expect("there is nothing to wait for");
        assert!(interest.state().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_is_deaf_until_it_hears_all_channels_again() {
        let interest = Interest::default();
        let wait = |secs| tokio::time::sleep(Duration::from_secs(secs));
        interest.join("a");
        wait(3).await;
        assert_eq!(deaf_seconds(&interest), 3);
        interest.connected();
        wait(1).await;
        assert!(follow(&interest));
        wait(10).await;
        assert_eq!(deaf_seconds(&interest), 4);
        interest.join("b");
        assert!(!follow(&interest), "it was not deaf");
        interest.disconnected();
        wait(5).await;
        interest.connected();
        assert!(follow(&interest));
        wait(7).await;
        assert_eq!(deaf_seconds(&interest), 9);
    }

    #[tokio::test(start_paused = true)]
    async fn the_task_is_woken_when_there_is_something_to_send_and_when_a_channel_ends() {
        let interest = Interest::default();
        interest.connected();
        interest.join("a");
        interest.changed().await;
        follow(&interest);
        let started = Instant::now();
        interest.leave("a");
        while interest.next_command().is_none() {
            interest.changed().await;
        }
        let waited = started.elapsed();
        assert!((2000..2100).contains(&waited.as_millis()), "{waited:?}");
    }
}
