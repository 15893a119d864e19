//! The answers of the scripts, and the announcements of messages.

use std::sync::Arc;

use plimsoll_broker::{
    follower::{Excerpt, Message, Position},
    presence,
};

use super::{followers::Body, members};
use crate::resp::Reply;

/// The beginning of a message that is in no log. An epoch never has this character.
pub(super) const PASSING: &[u8] = b"- ";

/// The beginning of a change of a member.
const MEMBER: &[u8] = b"= ";

/// A message that Redis has stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The epoch of the log.
    pub epoch: Arc<str>,
    /// The offset of the message.
    pub offset: u64,
    /// The time at which Redis took it, in milliseconds of Unix time.
    pub at_ms: u64,
    /// Whether it had been stored before, under the same idempotency key.
    pub is_repetition: bool,
}

impl Stored {
    pub(super) fn position(&self) -> Position {
        Position {
            epoch: Arc::clone(&self.epoch),
            offset: self.offset,
            at_ms: Some(self.at_ms),
        }
    }
}

/// What comes on a channel.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Announcement {
    Message(Message<Body>),
    Passing(Vec<u8>),
    Member(presence::Announcement),
}

/// `epoch offset time time-before payload`, `- payload`, or `= ` and the change of a member. `None` for anything else, which other programs may publish.
pub(super) fn announcement(text: &[u8]) -> Option<Announcement> {
    if let Some(payload) = text.strip_prefix(PASSING) {
        return Some(Announcement::Passing(payload.to_vec()));
    }
    if let Some(change) = text.strip_prefix(MEMBER) {
        return members::announcement(change).map(Announcement::Member);
    }
    let mut parts = text.splitn(5, |byte| *byte == b' ');
    let mut next = || parts.next();
    let epoch = str_of(next()?)?.into();
    let (offset, at_ms, before_ms) = (number(next()?)?, number(next()?)?, number(next()?)?);
    let payload = next()?.to_vec();
    Some(Announcement::Message(Message {
        epoch,
        offset,
        at_ms,
        before_ms,
        n_bytes: payload.len(),
        body: Body {
            number: offset,
            payload,
        },
    }))
}

/// The answer of `publish.lua`.
pub(super) fn stored(reply: Reply) -> Option<Stored> {
    let [epoch, offset, at_ms, is_repetition] = <[Reply; 4]>::try_from(reply.into_elements()).ok()?;
    Some(Stored {
        epoch: str_of(&text(epoch)?)?.into(),
        offset: number(&text(offset)?)?,
        at_ms: number(&text(at_ms)?)?,
        is_repetition: is_repetition == Reply::Integer(1),
    })
}

/// The answer of `read.lua`.
pub(super) fn excerpt(reply: Reply) -> Option<Excerpt<Body>> {
    let parts = <[Reply; 7]>::try_from(reply.into_elements()).ok()?;
    let [epoch, top, top_at_ms, earlier_epoch, start, has_more, messages] = parts;
    let epoch: Arc<str> = str_of(&text(epoch)?)?.into();
    let messages = messages.into_elements().into_iter();
    // A message that is too long to be read is left out, like one that is gone.
    let messages = messages.filter_map(|parts| message(&epoch, parts)).collect();
    Some(Excerpt {
        top: number(&text(top)?)?,
        top_at_ms: number(&text(top_at_ms)?)?,
        earlier_epoch: str_of(&text(earlier_epoch)?)?.into(),
        start: number(&text(start)?)?,
        messages,
        has_more: has_more == Reply::Integer(1),
        epoch,
    })
}

fn message(epoch: &Arc<str>, parts: Reply) -> Option<Message<Body>> {
    let [offset, at_ms, before_ms, payload] = <[Reply; 4]>::try_from(parts.into_elements()).ok()?;
    let (offset, payload) = (number(&text(offset)?)?, text(payload)?);
    Some(Message {
        epoch: Arc::clone(epoch),
        offset,
        at_ms: number(&text(at_ms)?)?,
        before_ms: number(&text(before_ms)?)?,
        n_bytes: payload.len(),
        body: Body {
            number: offset,
            payload,
        },
    })
}

fn text(reply: Reply) -> Option<Vec<u8>> {
    match reply {
        Reply::Text(text) => Some(text),
        _ => None,
    }
}

fn str_of(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(text).ok()
}

pub(super) fn number(text: &[u8]) -> Option<u64> {
    str_of(text)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, u64, u64, u64, &str)>) {
        let expected = expected.map(|(epoch, offset, at_ms, before_ms, body)| {
            Announcement::Message(Message {
                epoch: epoch.into(),
                offset,
                at_ms,
                before_ms,
                n_bytes: body.len(),
                body: Body {
                    number: offset,
                    payload: body.into(),
                },
            })
        });
        assert_eq!(announcement(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn announcements() {
        check("e 7 20 10 a b", Some(("e", 7, 20, 10, "a b")));
        check("e 1 20 0 ", Some(("e", 1, 20, 0, "")));
        for other in ["", "hello", "e 7 20 10", "e seven 20 10 a", "e 7 20 -1 a"] {
            check(other, None);
        }
        let passing = Announcement::Passing(b"a b".to_vec());
        assert_eq!(announcement(b"- a b"), Some(passing));
    }
}
