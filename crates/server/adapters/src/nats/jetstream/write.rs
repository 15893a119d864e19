//! Writes behind the end of a log.
//!
//! A message says which one it follows, and JetStream refuses it when that is not the last one on the subject. Then another
//! server was faster: the end is read, and the message follows that. With several replicas, JetStream may take two messages
//! that follow the same one (nats-server issues 4320 and 8469). The first of them is in the log. The writer of the other one
//! finds that out, and writes it again; readers pass it over.

use std::{
    cmp::Ordering,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use plimsoll_nats::{
    header,
    jetstream::{ApiError, EXPECTED_LAST, MESSAGE_ID, Wanted, acknowledgement},
    token,
};

use super::{
    JetStream, JetStreamError, now_ms,
    read::{Chained, Last},
    record::{Head, Kind, Record},
    refused,
    requests::Request,
    tips::Tip,
};
use crate::broker::{Source, new_epoch};

/// JetStream's errors: the message follows another one than the last. Newer servers have a second number for it.
const WRONG_LAST: [u32; 2] = [10071, 10164];

/// JetStream's error: the message is too long for the stream.
const TOO_LONG: u32 = 10054;

/// What JetStream did with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It has this number.
    Stored(u64),
    /// A message with the same id has this number.
    Repetition(u64),
    /// It follows another message than the last one.
    Overtaken,
}

impl JetStream {
    /// Stores a message at the end of a log.
    pub(super) async fn append(
        &self,
        source: Source<'_>,
        payload: &[u8],
        key: Option<&str>,
    ) -> Result<(), JetStreamError> {
        let subject = self.subject(source)?;
        let base = self.shared.keys.base(source);
        let lane = self.shared.tips.lane(&base);
        let _turn = lane.turn.lock().await;
        let mut attempt = 0_u32;
        loop {
            let known = self.shared.table.position(&base);
            let (tip, known) = match lane.tip() {
                // The known place may be a later one, of which only the end that is read now can be behind.
                Some(tip) => (tip, None),
                None => {
                    let read = self.tip(&subject).await;
                    let tip = read.inspect_err(|error| lane.tell(error))?;
                    lane.is_read();
                    (tip, known)
                }
            };
            let record = Record::next(tip.head.as_ref(), tip.number, known.as_ref(), now_ms(), epoch);
            let id = key.map(|key| message_id(key, &subject, attempt));
            match self.store(&subject, &record, id.as_deref(), payload).await? {
                Outcome::Stored(number) if self.is_first(&subject, &record, number).await? != Some(false) => {
                    self.shared.table.raise(&base, &record.head.position());
                    let head = Some(record.head);
                    lane.set(Some(Tip { number, head }));
                    return Ok(());
                }
                Outcome::Repetition(number) if self.is_repetition(&subject, number).await? => return Ok(()),
                Outcome::Overtaken => {}
                Outcome::Stored(_) | Outcome::Repetition(_) => {
                    tracing::debug!(
                        subject,
                        "A message is written again: JetStream took another one at the same time."
                    );
                    attempt += 1;
                }
            }
            lane.set(None);
        }
    }

    /// Writes a message that says only where the log ends, unless the log goes on meanwhile.
    pub(super) async fn mark(
        &self,
        subject: &str,
        last: &Last<Record>,
        head: Head,
    ) -> Result<(), JetStreamError> {
        let marker = Record {
            head,
            after: last.number,
            kind: Kind::Marker { written_ms: now_ms() },
        };
        self.store(subject, &marker, None, b"").await.map(drop)
    }

    async fn tip(&self, subject: &str) -> Result<Tip, JetStreamError> {
        let last = self.last::<Record>(subject).await?;
        Ok(match last {
            Some(Last { number, record, .. }) => Tip {
                number,
                head: Some(record.head),
            },
            None => Tip {
                number: 0,
                head: None,
            },
        })
    }

    pub(super) async fn store<R: Chained>(
        &self,
        subject: &str,
        record: &R,
        id: Option<&str>,
        payload: &[u8],
    ) -> Result<Outcome, JetStreamError> {
        let (name, value) = record.field();
        let after = record.after().to_string();
        let mut fields = vec![(name, &*value)];
        // The replicas of older servers can disagree on whether a subject is empty.
        if record.after() > 0 || !self.is_replicated() {
            fields.push((EXPECTED_LAST, &after));
        }
        fields.extend(id.map(|id| (MESSAGE_ID, id)));
        let request = Request {
            subject: subject.to_owned(),
            header: header(&fields),
            payload: payload.to_vec(),
        };
        let answer = self.shared.requests.ask(request).await?;
        match acknowledgement(&answer.payload) {
            Ok(stored) => {
                self.shared.last_error.store(0, Relaxed);
                Ok(if stored.is_repetition {
                    Outcome::Repetition(stored.number)
                } else {
                    Outcome::Stored(stored.number)
                })
            }
            Err(error) if WRONG_LAST.contains(&error.code) => Ok(Outcome::Overtaken),
            Err(error) if error.code == TOO_LONG => {
                let error = format!("JetStream refused the message: {error} (max_msg_size of the stream)");
                Err(JetStreamError::Unfit(error))
            }
            Err(error) => {
                self.tell(&error);
                Err(refused(&error))
            }
        }
    }

    /// Logs why JetStream refuses messages, once.
    fn tell(&self, error: &ApiError) {
        if self.shared.last_error.swap(error.code, Relaxed) == error.code {
            return;
        }
        let advice = match error.code {
            10023 | 10028 | 10047 => {
                "Give JetStream more room: max_file_store of the NATS server, or the limits of the account."
            }
            10077 => "The stream is full: raise its limits, or let it discard old messages.",
            _ => "Broadcasts are answered 503 until it takes them again.",
        };
        tracing::warn!("JetStream does not store messages: {error}. {advice}");
    }

    /// Whether a message counts: it is the first one behind the message that it follows. `None`: it is no longer kept, so
    /// there may have been one before it.
    pub(super) async fn is_first<R: Chained>(
        &self,
        subject: &str,
        record: &R,
        number: u64,
    ) -> Result<Option<bool>, JetStreamError> {
        if !self.is_replicated() {
            return Ok(Some(true));
        }
        let first = self
            .of_leader::<R>(Wanted::Next(subject, record.after() + 1))
            .await?;
        Ok(first.and_then(|first| match first.number.cmp(&number) {
            Ordering::Less => Some(false),
            Ordering::Equal => Some(true),
            Ordering::Greater => None,
        }))
    }

    /// Whether the message under an id is in its log.
    async fn is_repetition(&self, subject: &str, number: u64) -> Result<bool, JetStreamError> {
        if !self.is_replicated() {
            return Ok(true);
        }
        let stored = self.of_leader::<Record>(Wanted::Numbered(number)).await?;
        match stored.and_then(|stored| stored.record) {
            Some(record) => Ok(self.is_first(subject, &record, number).await? != Some(false)),
            // It is no longer kept.
            None => Ok(true),
        }
    }

    /// The subject on which a log is stored.
    pub(super) fn subject(&self, source: Source<'_>) -> Result<String, JetStreamError> {
        let subject = self.shared.subjects.stored(source);
        subject.map_err(|error| JetStreamError::Unfit(error.to_string()))
    }
}

pub(super) fn epoch() -> Arc<str> {
    new_epoch().into()
}

/// The id of a message. JetStream compares the ids of all messages of its stream. `attempt` counts earlier messages with the
/// key that did not get into the log.
fn message_id(key: &str, subject: &str, attempt: u32) -> String {
    format!("{}.{attempt}.{subject}", token(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_idempotency_keys_have_one_id() {
        assert_eq!(message_id("k:1\r\n", "p.h.YQ", 0), "azoxDQo.0.p.h.YQ");
        let ids = [
            ("a", "p.h.b", 0),
            ("a.0.p", "h.b", 0),
            ("a", "p.h.b", 1),
            ("b", "p.h.b", 0),
        ];
        let mut ids = ids.map(|(key, subject, attempt)| message_id(key, subject, attempt));
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    }
}
