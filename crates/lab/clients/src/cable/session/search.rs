//! Waiting for messages of a channel.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Channel, Message};
use crate::cable::Matcher;

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until no message at all, matching or not, has arrived for this long.
    Idle(Duration),
    /// For this long in all.
    Window(Duration),
}

/// The limit of found messages, more than any script examines. Later messages wait in the inbox, and finally in the
/// socket.
const MAX_FOUND_BYTES: usize = 256 * 1024 * 1024;

/// A search for messages. Messages that do not match are consumed.
#[derive(Debug)]
pub struct Search<'a> {
    channel: &'a Channel,
    matcher: &'a Matcher,
    n_wanted: usize,
    not_before: Option<std::time::Instant>,
    patience: Patience,
    deadline: Instant,
    found: Vec<Message>,
    n_bytes: usize,
}

impl<'a> Search<'a> {
    /// A search that begins now.
    pub fn new(channel: &'a Channel, n_wanted: usize, matcher: &'a Matcher, patience: Patience) -> Self {
        Self {
            channel,
            matcher,
            n_wanted,
            not_before: None,
            patience,
            deadline: in_future(patience.duration()),
            found: Vec::new(),
            n_bytes: 0,
        }
    }

    /// Excludes messages that arrived before `instant`: for the answer to a message that was sent then.
    #[must_use]
    pub fn not_before(mut self, instant: std::time::Instant) -> Self {
        self.not_before = Some(instant);
        self
    }

    /// Takes matching messages, and waits for more. Returns `true` when enough were found, `false` when the time is
    /// over. Messages of an observed channel count only after the observer has kept them ([`Channel::keep`]).
    pub async fn run(&mut self) -> bool {
        loop {
            if self.take_what_is_there() {
                return true;
            }
            let session = self.channel.session();
            let can_take = || !self.is_full() && self.channel.has_messages();
            let arrived = session.until(|| can_take().then_some(()));
            if timeout_at(self.deadline, arrived).await.is_err() {
                return false;
            }
        }
    }

    /// What was found.
    pub fn into_found(self) -> Vec<Message> {
        self.found
    }

    fn is_full(&self) -> bool {
        self.n_bytes >= MAX_FOUND_BYTES
    }

    fn take_what_is_there(&mut self) -> bool {
        while self.found.len() < self.n_wanted {
            if self.is_full() {
                return false;
            }
            let Some(message) = self.channel.take() else {
                return false;
            };
            if let Patience::Idle(limit) = self.patience {
                self.deadline = in_future(limit);
            }
            let is_late_enough = self.not_before.is_none_or(|instant| message.at >= instant);
            if is_late_enough && self.matcher.matches(&message.json) {
                self.n_bytes += message.json.len();
                self.found.push(message);
            }
        }
        true
    }
}

impl Patience {
    fn duration(self) -> Duration {
        match self {
            Self::Idle(duration) | Self::Window(duration) => duration,
        }
    }
}

/// The instant after this duration. Forever is thirty years.
fn in_future(duration: Duration) -> Instant {
    const THIRTY_YEARS: Duration = Duration::from_secs(30 * 365 * 86_400);
    Instant::now() + duration.min(THIRTY_YEARS)
}
