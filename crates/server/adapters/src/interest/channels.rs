//! The set of channels that a node is subscribed to, as a state that is wanted and a state that was asked for. Only the
//! difference is sent.
//!
//! A channel that is not needed any more stays subscribed for a while: clients often come back at once, and then nothing
//! is sent. Commands of one connection take effect in their order, so a subscription that is asked for behind the end of
//! an earlier one is a new one; it counts as confirmed when every command about its channel is.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

/// How long a channel stays subscribed without a reason.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// The most channels of one command: a line of up to some ten thousand bytes.
pub(crate) const BATCH: usize = 512;

/// The most commands about channels that are not confirmed. Beyond it nothing is sent, so that a connection with 100,000
/// channels is not flooded when it is new.
const MAX_UNCONFIRMED: usize = 8 * BATCH;

/// A command about some channels, at most [`BATCH`] of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Subscribe(Vec<Arc<str>>),
    Unsubscribe(Vec<Arc<str>>),
}

/// All channels of a node.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    // Clients choose the names, so the hashes have a random key.
    by_name: HashMap<Arc<str>, Channel>,
    /// Channels whose states may differ, each once.
    changed: VecDeque<Arc<str>>,
    /// Channels that lost their last reason, in the order of the times at which they end.
    lingering: VecDeque<(Instant, Arc<str>)>,
    is_connected: bool,
    n_unconfirmed: usize,
    /// Subscriptions that are confirmed.
    n_heard: usize,
    /// Channels that were wanted when the connection was new, and are not confirmed yet.
    n_missing: usize,
}

#[derive(Debug, Default)]
struct Channel {
    n_reasons: usize,
    /// The time at which the channel ends. `None` while there is a reason for it.
    ends_at: Option<Instant>,
    /// Whether the last command was to subscribe.
    is_asked_for: bool,
    n_unconfirmed: u32,
    /// Whether the channel is in the list of changed ones.
    is_changed: bool,
    /// Whether it counts as missing.
    is_missing: bool,
}

impl Channel {
    fn is_wanted(&self, now: Instant) -> bool {
        self.n_reasons > 0 || self.ends_at.is_some_and(|end| now < end)
    }

    fn is_heard(&self) -> bool {
        self.is_asked_for && self.n_unconfirmed == 0
    }

    /// Whether nothing is known to the server about the channel, and nothing will be.
    fn is_over(&self) -> bool {
        self.n_reasons == 0 && !self.is_asked_for && self.n_unconfirmed == 0
    }
}

impl Channels {
    /// There is one more reason for a channel. Returns whether there is something to send.
    pub(crate) fn join(&mut self, name: &str) -> bool {
        let name: Arc<str> = match self.by_name.get_key_value(name) {
            Some((name, _)) => Arc::clone(name),
            None => name.into(),
        };
        let channel = self.by_name.entry(Arc::clone(&name)).or_default();
        channel.n_reasons += 1;
        channel.ends_at = None;
        if channel.is_asked_for {
            return false;
        }
        self.change(&name);
        self.is_connected
    }

    /// There is one reason less. Returns whether there is a new time to wait for.
    pub(crate) fn leave(&mut self, name: &str, now: Instant) -> bool {
        let Some((name, channel)) = self.by_name.get_key_value(name) else {
            return false;
        };
        let (name, n_reasons) = (Arc::clone(name), channel.n_reasons);
        let Some(channel) = self.by_name.get_mut(&name).filter(|_| n_reasons > 0) else {
            return false;
        };
        channel.n_reasons -= 1;
        if channel.n_reasons > 0 {
            return false;
        }
        if channel.is_over() {
            // A changed one is forgotten with the next command.
            if !channel.is_changed {
                self.by_name.remove(&name);
            }
            return false;
        }
        let end = now + LINGER;
        channel.ends_at = Some(end);
        self.lingering.push_back((end, name));
        self.lingering.len() == 1
    }

    /// There is a connection without subscriptions.
    pub(crate) fn connected(&mut self) {
        self.disconnected();
        self.is_connected = true;
        for (name, channel) in &mut self.by_name {
            channel.is_changed = true;
            channel.is_missing = true;
            self.changed.push_back(Arc::clone(name));
        }
        self.n_missing = self.by_name.len();
    }

    /// The connection is lost, and all subscriptions with it.
    pub(crate) fn disconnected(&mut self) {
        self.is_connected = false;
        self.n_unconfirmed = 0;
        self.n_heard = 0;
        self.lingering.clear();
        self.by_name.retain(|_, channel| channel.n_reasons > 0);
        self.changed.clear();
        for channel in self.by_name.values_mut() {
            *channel = Channel {
                n_reasons: channel.n_reasons,
                ..Channel::default()
            };
        }
    }

    /// The next command to send, if there is one.
    pub(crate) fn next_command(&mut self, now: Instant) -> Option<Command> {
        self.end_lingering(now);
        if !self.is_connected || self.n_unconfirmed > MAX_UNCONFIRMED - BATCH {
            return None;
        }
        let (mut names, mut subscribes) = (Vec::new(), None);
        while names.len() < BATCH
            && let Some(name) = self.changed.front().cloned()
        {
            // One that was forgotten meanwhile is not wanted.
            let channel = self.by_name.get_mut(&name);
            let (is_wanted, is_asked_for) = channel.as_ref().map_or((false, false), |channel| {
                (channel.is_wanted(now), channel.is_asked_for)
            });
            let is_different = is_wanted != is_asked_for;
            if is_different && subscribes.is_some_and(|subscribes| subscribes != is_wanted) {
                break;
            }
            self.changed.pop_front();
            let Some(channel) = channel else { continue };
            channel.is_changed = false;
            if is_different {
                subscribes = Some(is_wanted);
                self.n_heard -= usize::from(channel.is_heard());
                channel.is_asked_for = is_wanted;
                channel.n_unconfirmed += 1;
                self.n_unconfirmed += 1;
                names.push(name);
            } else if channel.is_over() {
                self.n_missing -= usize::from(channel.is_missing);
                self.by_name.remove(&name);
            }
        }
        let command = if subscribes? {
            Command::Subscribe
        } else {
            Command::Unsubscribe
        };
        Some(command(names))
    }

    /// The oldest command about a channel that was not confirmed has taken effect.
    pub(crate) fn confirmed(&mut self, name: &str) {
        let Some(channel) = self
            .by_name
            .get_mut(name)
            .filter(|channel| channel.n_unconfirmed > 0)
        else {
            return;
        };
        channel.n_unconfirmed -= 1;
        self.n_unconfirmed -= 1;
        self.n_heard += usize::from(channel.is_heard());
        self.n_missing -= usize::from(std::mem::take(&mut channel.is_missing));
        if channel.is_over() && !channel.is_changed {
            self.by_name.remove(name);
        }
    }

    pub(crate) fn has_reasons(&self, name: &str) -> bool {
        self.by_name
            .get(name)
            .is_some_and(|channel| channel.n_reasons > 0)
    }

    /// Whether every message that is published on a channel from now on arrives, as long as the connection lasts.
    pub(crate) fn is_heard(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(Channel::is_heard)
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected
    }

    /// Whether there is a connection, and all channels that were wanted when it was new are heard, or not wanted any more.
    pub(crate) fn is_restored(&self) -> bool {
        self.is_connected && self.n_missing == 0
    }

    /// The number of confirmed subscriptions.
    pub(crate) fn n_heard(&self) -> usize {
        self.n_heard
    }

    /// The time at which the next channel ends, if it is not joined meanwhile.
    pub(crate) fn next_end(&self) -> Option<Instant> {
        self.lingering.front().map(|(end, _)| *end)
    }

    fn end_lingering(&mut self, now: Instant) {
        while self.lingering.front().is_some_and(|(end, _)| *end <= now)
            && let Some((end, name)) = self.lingering.pop_front()
        {
            // Otherwise the channel was joined meanwhile. If it was left again, it has another entry.
            if self
                .by_name
                .get(&name)
                .is_some_and(|channel| channel.ends_at == Some(end))
            {
                self.change(&name);
            }
        }
    }

    fn change(&mut self, name: &Arc<str>) {
        // A new connection gets all channels anyway, and names must not pile up until there is one.
        if self.is_connected
            && let Some(channel) = self.by_name.get_mut(name)
            && !channel.is_changed
        {
            channel.is_changed = true;
            self.changed.push_back(Arc::clone(name));
        }
    }
}

#[cfg(test)]
mod tests;
