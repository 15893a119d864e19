//! Reads logs.
//!
//! The end of a log comes from the leader of the stream's replicas: another replica may be behind, and would seem to have
//! lost messages. The messages before the end come one by one, from any replica.

use std::sync::Arc;

use plimsoll_broker::follower::{Excerpt, Message, Position};
use plimsoll_nats::{
    Header,
    jetstream::{Api, Kept, Wanted, direct, message},
};

use super::{
    JetStream, JetStreamError, Streams, now_ms,
    record::{Head, Kind, Record},
    refused,
    requests::Request,
    write::epoch,
};
use crate::broker::{Body, Limits, MAX_TAIL, PAGE};

/// The most steps back to a message that is in the log.
const MAX_STEPS: usize = 16;

/// What the header of a message says that follows another one on its subject.
pub(super) trait Chained: Sized + Send + Sync {
    /// The stream of JetStream with such messages.
    fn stream(streams: &Streams) -> &str;

    /// `None`: another program has written the message.
    fn read(header: &Header<'_>) -> Option<Self>;

    /// Name and value of the field.
    fn field(&self) -> (&'static str, String);

    /// The number of the subject's last message when this one was written; 0 if there was none. The message counts only if
    /// that is true: JetStream with several replicas may take two that follow the same one.
    fn after(&self) -> u64;
}

/// A message on a subject.
#[derive(Debug)]
pub(super) struct Stored<R> {
    pub(super) number: u64,
    /// `None`: another program has written it.
    pub(super) record: Option<R>,
    pub(super) payload: Vec<u8>,
}

impl<R: Chained> From<Kept> for Stored<R> {
    fn from(kept: Kept) -> Self {
        Self {
            number: kept.number,
            record: R::read(&Header::read(&kept.header)),
            payload: kept.payload,
        }
    }
}

/// The end of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Last<R> {
    /// The number of the last message on the subject.
    pub(super) number: u64,
    /// The number of the last one that counts.
    pub(super) record_number: u64,
    /// What that one says.
    pub(super) record: R,
    /// Its payload.
    pub(super) payload: Vec<u8>,
}

/// A part of a log.
struct Range {
    messages: Vec<Message<Body>>,
    has_more: bool,
}

impl JetStream {
    /// Reads a log behind a place; `None`: the end of it.
    pub(super) async fn read_log(
        &self,
        base: &str,
        after: Option<(&Position, u64)>,
        limits: Limits,
    ) -> Result<Excerpt<Body>, JetStreamError> {
        let source = self.shared.keys.source(base);
        let subject = self.subject(source.expect("the table has only names of logs"))?;
        loop {
            if let Some(excerpt) = self.try_read(&subject, after, limits).await? {
                return Ok(excerpt);
            }
        }
    }

    /// `None`: the log has got a new epoch, so it must be read again.
    async fn try_read(
        &self,
        subject: &str,
        after: Option<(&Position, u64)>,
        limits: Limits,
    ) -> Result<Option<Excerpt<Body>>, JetStreamError> {
        let Some(last) = self.last::<Record>(subject).await? else {
            return Ok(Some(no_log()));
        };
        let head = &last.record.head;
        let known = after.map(|(position, _)| position);
        let start = head.start(known, limits.limit.min(MAX_TAIL) as u64);
        let of_this_epoch = after.filter(|(position, _)| position.epoch == head.epoch);
        if let Some((known, number)) = of_this_epoch {
            if head.lacks(known) {
                return self.rename(subject, &last, known).await;
            }
            if head.offset == known.offset {
                self.refresh(subject, &last).await;
                return Ok(Some(excerpt(head, start, Range::empty())));
            }
            let range = self.range(subject, start, number, &last).await?;
            if range.follows(known) {
                return Ok(Some(excerpt(head, start, range)));
            }
            return self.rename(subject, &last, known).await;
        }
        let range = self.range(subject, start, 0, &last).await?;
        Ok(Some(excerpt(head, start, range)))
    }

    /// The store has gone back in time: messages that were announced are not here, or others are in their place.
    async fn rename<T>(
        &self,
        subject: &str,
        last: &Last<Record>,
        known: &Position,
    ) -> Result<Option<T>, JetStreamError> {
        let head = last.record.head.renamed(known.offset, epoch());
        self.mark(subject, last, head).await?;
        Ok(None)
    }

    /// A log that is heard keeps its epoch, however silent it is.
    async fn refresh(&self, subject: &str, last: &Last<Record>) {
        let age_ms = now_ms().saturating_sub(last.record.written_ms());
        if u128::from(age_ms) < self.shared.max_age.as_millis() / 2 {
            return;
        }
        if let Err(error) = self.mark(subject, last, last.record.head.clone()).await {
            tracing::debug!(%error, "The end of a silent log was not written again.");
        }
    }

    /// The messages behind the offset `start` up to the end, or the first page of them. `number` is that of the message with
    /// this offset; 0: it is not known.
    async fn range(
        &self,
        subject: &str,
        start: u64,
        number: u64,
        last: &Last<Record>,
    ) -> Result<Range, JetStreamError> {
        let number = if number < last.number { number } else { 0 };
        let range = self.walk(subject, start, number, last).await?;
        let is_next = |message: &Message<Body>| message.offset == start + 1;
        // A store that has gone back may have the messages under earlier numbers.
        if number > 0 && !range.messages.first().is_some_and(is_next) {
            return self.walk(subject, start, 0, last).await;
        }
        Ok(range)
    }

    async fn walk(
        &self,
        subject: &str,
        start: u64,
        mut number: u64,
        last: &Last<Record>,
    ) -> Result<Range, JetStreamError> {
        let head = &last.record.head;
        let mut range = Range::empty();
        while number < last.number {
            let Some(stored) = self.of_any::<Record>(Wanted::Next(subject, number + 1)).await? else {
                break;
            };
            // What is behind the end has been announced.
            if stored.number > last.number {
                break;
            }
            let before = std::mem::replace(&mut number, stored.number);
            let Some(record) = stored
                .record
                .filter(|record| before <= record.after || before == 0)
            else {
                continue;
            };
            if let Kind::Message { before_ms } = record.kind
                && record.head.offset > start
            {
                range.messages.push(Message {
                    epoch: Arc::clone(&head.epoch),
                    offset: record.head.offset,
                    at_ms: record.head.at_ms,
                    before_ms,
                    n_bytes: stored.payload.len(),
                    body: Body {
                        number,
                        payload: stored.payload,
                    },
                });
                if range.messages.len() == PAGE {
                    range.has_more = record.head.offset < head.offset;
                    break;
                }
            }
        }
        Ok(range)
    }

    /// The end of a subject. `None`: it has no message.
    pub(super) async fn last<R: Chained>(&self, subject: &str) -> Result<Option<Last<R>>, JetStreamError> {
        let Some(stored) = self.of_leader(Wanted::Last(subject)).await? else {
            return Ok(None);
        };
        let number = stored.number;
        let last = end(subject, number, stored)?;
        if self.is_replicated() {
            return self.counting(subject, last).await.map(Some);
        }
        Ok(Some(last))
    }

    /// The last message that counts, up to the last one; see [`super::write`].
    async fn counting<R: Chained>(&self, subject: &str, last: Last<R>) -> Result<Last<R>, JetStreamError> {
        let mut from = last.record.after();
        for _ in 0..MAX_STEPS {
            let (mut before, mut found, mut least) = (from, None, from);
            while before < last.number {
                let Some(stored) = self.of_leader(Wanted::Next(subject, before + 1)).await? else {
                    break;
                };
                let next = end::<R>(subject, last.number, stored)?;
                let number = next.record_number;
                least = least.min(next.record.after());
                if before <= next.record.after() {
                    found = Some(next);
                }
                before = number;
            }
            match found {
                Some(found) => return Ok(found),
                None if least < from => from = least,
                None => break,
            }
        }
        Err(JetStreamError::Refused(format!(
            "JetStream has only messages on {subject} that were written at the same time"
        )))
    }

    /// A message, as the leader of the replicas has it.
    pub(super) async fn of_leader<R: Chained>(
        &self,
        wanted: Wanted<'_>,
    ) -> Result<Option<Stored<R>>, JetStreamError> {
        let answer = self.get::<R>(Api::Message, wanted).await?;
        let kept = message(&answer.payload).map_err(|error| refused(&error))?;
        Ok(kept.map(Stored::from))
    }

    /// A message, as any replica has it.
    pub(super) async fn of_any<R: Chained>(
        &self,
        wanted: Wanted<'_>,
    ) -> Result<Option<Stored<R>>, JetStreamError> {
        let answer = self.get::<R>(Api::Direct, wanted).await?;
        match direct(answer).map_err(|error| refused(&error))? {
            // A replica may be behind.
            None if self.is_replicated() => self.of_leader(wanted).await,
            kept => Ok(kept.map(Stored::from)),
        }
    }

    async fn get<R: Chained>(
        &self,
        api: Api,
        wanted: Wanted<'_>,
    ) -> Result<plimsoll_nats::Message, JetStreamError> {
        let request = Request {
            subject: api.subject(R::stream(&self.shared.streams)),
            header: Vec::new(),
            payload: wanted.payload(),
        };
        self.shared.requests.ask(request).await
    }
}

impl Range {
    fn empty() -> Self {
        Self {
            messages: Vec::new(),
            has_more: false,
        }
    }

    /// Whether the messages follow this place, or those before them are gone.
    fn follows(&self, known: &Position) -> bool {
        let next = self
            .messages
            .first()
            .filter(|next| next.offset == known.offset + 1);
        let is_other = |next: &Message<Body>| known.at_ms.is_some_and(|at_ms| at_ms != next.before_ms);
        !next.is_some_and(is_other)
    }
}

fn end<R: Chained>(subject: &str, number: u64, stored: Stored<R>) -> Result<Last<R>, JetStreamError> {
    let foreign = || JetStreamError::Foreign(subject.to_owned());
    let record = stored.record.ok_or_else(foreign)?;
    Ok(Last {
        number,
        record_number: stored.number,
        record,
        payload: stored.payload,
    })
}

fn excerpt(head: &Head, start: u64, range: Range) -> Excerpt<Body> {
    Excerpt {
        epoch: Arc::clone(&head.epoch),
        top: head.offset,
        top_at_ms: head.at_ms,
        earlier_epoch: Arc::clone(&head.earlier),
        start,
        messages: range.messages,
        has_more: range.has_more,
    }
}

fn no_log() -> Excerpt<Body> {
    let none: Arc<str> = "".into();
    Excerpt {
        epoch: Arc::clone(&none),
        top: 0,
        top_at_ms: 0,
        earlier_epoch: none,
        start: 0,
        messages: Vec::new(),
        has_more: false,
    }
}
