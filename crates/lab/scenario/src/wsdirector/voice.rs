//! What clients say for people: texts of `debug` and `print`, and the messages on the wire.

use std::{fmt, sync::Arc};

use super::scenario::Group;

/// The receiver of printed lines.
type Print = dyn Fn(&str) + Send + Sync;

/// Says what one run's clients have to say. One value serves all of them.
#[derive(Clone)]
pub struct Voice {
    print: Arc<Print>,
    shows_messages: bool,
}

/// A client, as people know it.
#[derive(Clone, Copy)]
pub(super) struct Speaker<'a> {
    pub(super) voice: &'a Voice,
    pub(super) group: &'a Group,
    /// Its number within the group, from 1.
    pub(super) number: u32,
}

impl Voice {
    /// A voice whose lines go to `print`, which is called on the threads of the run. `shows_messages`: whether all messages
    /// of clients are logged.
    pub fn new(shows_messages: bool, print: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            print: Arc::new(print),
            shows_messages,
        }
    }
}

/// Omits the receiver, which has no text.
impl fmt::Debug for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Voice")
            .field("shows_messages", &self.shows_messages)
            .finish_non_exhaustive()
    }
}

impl Speaker<'_> {
    /// Prints a line.
    pub(super) fn say(self, text: &str) {
        (self.voice.print)(&format!("client={}_{} {text}", self.group.name, self.number));
    }

    /// Logs a message that was sent or received.
    pub(super) fn show(self, direction: &str, text: &str) {
        if self.voice.shows_messages {
            tracing::debug!(target: "scenario", "client={}_{} {direction} {text}", self.group.name, self.number);
        }
    }
}
