//! The store as the scripts of `plimsoll-adapters` make it, for one stream. Bodies number the messages in the order in
//! which they were published.

use std::sync::Arc;

use super::{Excerpt, Message, N_RECENT, Position};

/// Messages in an answer.
const PAGE: usize = 2;

#[derive(Debug, Clone)]
pub(super) struct Store {
    limit: usize,
    log: Option<Log>,
    n_published: u32,
    n_published_then: u32,
    n_epochs: u32,
}

#[derive(Debug, Clone)]
struct Log {
    epoch: Arc<str>,
    earlier_epoch: Arc<str>,
    renamed_at: u64,
    top: u64,
    at_ms: u64,
    messages: Vec<Message<u32>>,
}

pub(super) fn message(epoch: &str, offset: u64, at_ms: u64, n_bytes: usize, body: u32) -> Message<u32> {
    Message {
        epoch: epoch.into(),
        offset,
        at_ms,
        before_ms: at_ms - 1,
        n_bytes,
        body,
    }
}

impl Store {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            log: None,
            n_published: 0,
            n_published_then: 0,
            n_epochs: 0,
        }
    }

    pub(super) fn n_published(&self) -> u32 {
        self.n_published
    }

    /// The number of messages that were published before this state was taken as an earlier one.
    pub(super) fn n_published_then(&self) -> u32 {
        self.n_published_then
    }

    /// This earlier state, after more messages were published and lost.
    pub(super) fn at(mut self, n_published: u32) -> Self {
        self.n_published_then = self.n_published + 1;
        self.n_published = n_published;
        // No two epochs are the same.
        self.n_epochs += 100 * n_published;
        self
    }

    pub(super) fn forget(&mut self) {
        self.log = None;
    }

    pub(super) fn expire(&mut self) {
        if let Some(log) = &mut self.log {
            log.messages.clear();
        }
    }

    pub(super) fn publish(&mut self, floor: Option<&Position>) -> Message<u32> {
        self.n_published += 1;
        if self.log.is_none() {
            let epoch = self.new_epoch();
            self.log = Some(Log {
                epoch,
                earlier_epoch: "".into(),
                renamed_at: 0,
                top: 0,
                at_ms: 0,
                messages: Vec::new(),
            });
        }
        self.rename_if_behind(floor, false);
        let (limit, body) = (self.limit, self.n_published);
        let log = self.log.as_mut().expect("it was there, or was made");
        log.top += 1;
        let at_ms = 1000 + u64::from(body);
        let message = Message {
            epoch: Arc::clone(&log.epoch),
            offset: log.top,
            at_ms,
            before_ms: log.at_ms,
            n_bytes: 1,
            body,
        };
        log.at_ms = at_ms;
        log.messages.push(message.clone());
        if log.messages.len() > limit {
            log.messages.remove(0);
        }
        message
    }

    pub(super) fn read(&mut self, after: Option<&Position>) -> Excerpt<u32> {
        self.rename_if_behind(after, true);
        let Some(log) = &self.log else {
            return Excerpt {
                epoch: "".into(),
                top: 0,
                top_at_ms: 0,
                earlier_epoch: "".into(),
                start: 0,
                messages: Vec::new(),
                has_more: false,
            };
        };
        let start = match after {
            None => log.top.saturating_sub(self.limit as u64),
            Some(after) if after.epoch == log.epoch => after.offset,
            Some(after) if after.epoch.is_empty() => 0,
            Some(after) if after.epoch == log.earlier_epoch => after.offset.min(log.renamed_at),
            Some(_) => log.renamed_at,
        };
        let behind: Vec<_> = log
            .messages
            .iter()
            .filter(|message| message.offset > start)
            .collect();
        let page = behind.iter().take(PAGE);
        Excerpt {
            epoch: Arc::clone(&log.epoch),
            top: log.top,
            top_at_ms: log.at_ms,
            earlier_epoch: Arc::clone(&log.earlier_epoch),
            start,
            messages: page
                .map(|message| Message {
                    epoch: Arc::clone(&log.epoch),
                    ..(*message).clone()
                })
                .collect(),
            has_more: behind.len() > PAGE,
        }
    }

    /// Renames a log that lacks what a server knows. A publication does not look at the messages.
    fn rename_if_behind(&mut self, known: Option<&Position>, looks: bool) {
        let Some((log, known)) = self.log.as_ref().zip(known) else {
            return;
        };
        if log.epoch != known.epoch {
            return;
        }
        let next = log
            .messages
            .iter()
            .find(|next| looks && next.offset == known.offset + 1);
        let at_known = match next {
            Some(next) => Some(next.before_ms),
            None => (log.top == known.offset).then_some(log.at_ms),
        };
        let differs = |at_ms| known.at_ms.is_some_and(|known| known != at_ms);
        if log.top < known.offset || at_known.is_some_and(differs) {
            let epoch = self.new_epoch();
            let log = self.log.as_mut().expect("it was just looked at");
            log.renamed_at = log.top.min(known.offset).saturating_sub(N_RECENT as u64);
            log.earlier_epoch = std::mem::replace(&mut log.epoch, epoch);
        }
    }

    fn new_epoch(&mut self) -> Arc<str> {
        self.n_epochs += 1;
        // Epochs are letters in the tables and numbers beyond them.
        match u8::try_from(self.n_epochs) {
            Ok(n @ 1..=26) => char::from(b'A' + n - 1).to_string().into(),
            _ => self.n_epochs.to_string().into(),
        }
    }
}
