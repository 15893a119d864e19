//! The messages of a channel that wait for their user.
//!
//! Not an [`Inbox`](crate::inbox::Inbox) of owned messages. The users of a worker live on one thread, and a broadcast to
//! a room with a thousand of them arrives a thousand times, as the same text and nearly always between the same other
//! messages. So a thread holds each text once ([`Texts`]), an inbox only says where a sequence of texts begins and how
//! long it is, and the times of arrival are differences ([`Marks`]): five bytes per message in a room whose members
//! are on this thread.

use std::{collections::VecDeque, rc::Rc};

use super::{Message, message::Mark};

mod marks;
mod texts;

use self::{
    marks::Marks,
    texts::{Handle, Texts},
};

/// Up to this size, an empty queue keeps its memory for the next message.
const KEPT_RUNS: usize = 8;

/// A message of at most this size that finds the inbox empty is held alone, because a user nearly always waits for it and
/// takes it at once: an echo, for example. To look for its text would be in vain.
const MAX_BYTES_ALONE: usize = 256;

/// A queue of messages in the order of arrival. It drops none: its user stops reading its connection while the inbox
/// [is full](Self::is_full).
#[derive(Debug)]
pub(super) struct Inbox {
    texts: Texts,
    /// The oldest message, if it is not in the queue behind it.
    alone: Option<Message>,
    runs: VecDeque<Run>,
    /// The last text of the last run.
    last: Option<Handle>,
    marks: Marks,
    n_messages: usize,
    n_bytes: usize,
    max_messages: usize,
    max_bytes: usize,
}

/// Texts each of which is the successor of the one before: see [`Texts::hold`].
#[derive(Debug)]
struct Run {
    first: Handle,
    length: u32,
}

impl Inbox {
    /// An empty inbox, which owns no memory yet. It is full with so many messages, or messages of so many bytes.
    pub(super) fn new(max_messages: usize, max_bytes: usize) -> Self {
        Self::with_texts(Texts::of_thread(), max_messages, max_bytes)
    }

    fn with_texts(texts: Texts, max_messages: usize, max_bytes: usize) -> Self {
        Self {
            texts,
            alone: None,
            runs: VecDeque::new(),
            last: None,
            marks: Marks::default(),
            n_messages: 0,
            n_bytes: 0,
            max_messages,
            max_bytes,
        }
    }

    /// Whether the user must stop reading.
    pub(super) fn is_full(&self) -> bool {
        self.n_messages >= self.max_messages || self.n_bytes >= self.max_bytes
    }

    /// Whether no message waits.
    pub(super) fn is_empty(&self) -> bool {
        self.n_messages == 0
    }

    /// Adds the latest message: its text and its times. It exceeds the limits when the inbox is full.
    pub(super) fn push(&mut self, json: impl AsRef<str> + Into<Rc<str>>, mark: Mark) {
        let n_bytes = json.as_ref().len();
        if self.is_empty() && n_bytes <= MAX_BYTES_ALONE {
            self.alone = Some(mark.on(json.into()));
        } else {
            self.hold(json);
            self.marks.push(mark);
        }
        self.n_messages += 1;
        self.n_bytes += n_bytes;
    }

    /// Takes the oldest message.
    pub(super) fn pop(&mut self) -> Option<Message> {
        let message = self.alone.take().or_else(|| {
            let json = self.release()?;
            Some(self.marks.pop()?.on(json))
        })?;
        self.n_messages -= 1;
        self.n_bytes -= message.json.len();
        Some(message)
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.alone = None;
        while self.release().is_some() {}
        self.marks = Marks::default();
        self.n_messages = 0;
        self.n_bytes = 0;
    }

    fn hold(&mut self, json: impl AsRef<str> + Into<Rc<str>>) {
        let (handle, is_successor) = self.texts.hold(json, self.last);
        self.last = Some(handle);
        match self.runs.back_mut().filter(|_| is_successor) {
            Some(run) => run.length += 1,
            None => self.runs.push_back(Run {
                first: handle,
                length: 1,
            }),
        }
    }

    fn release(&mut self) -> Option<Rc<str>> {
        let run = self.runs.front_mut()?;
        let (text, successor) = self.texts.release(run.first);
        run.length -= 1;
        match successor.filter(|_| run.length > 0) {
            Some(successor) => run.first = successor,
            None => drop(self.runs.pop_front()),
        }
        if self.runs.is_empty() {
            self.last = None;
            if self.runs.capacity() > KEPT_RUNS {
                self.runs = VecDeque::new();
            }
        }
        Some(text)
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests;
