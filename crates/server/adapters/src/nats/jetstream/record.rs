//! The places of messages, which their headers have (docs/reference/nats-broker.md, Headers).

use std::sync::Arc;

use plimsoll_broker::follower::{N_RECENT, Position};
use plimsoll_nats::Header;

use super::{Streams, read::Chained};

/// The field of a message of a log.
const MESSAGE: &str = "Plimsoll-Message";

/// The field of a message that says only where the log ends.
const MARKER: &str = "Plimsoll-Marker";

/// The field of a message that is in no log.
pub(super) const PASSING: &str = "Plimsoll-Passing";

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// The epoch of the log.
    pub(super) epoch: Arc<str>,
    /// The offset of the last message.
    pub(super) offset: u64,
    /// The time of that message, in milliseconds of Unix time.
    pub(super) at_ms: u64,
    /// The epoch that the log had before. Empty: it has its first one.
    pub(super) earlier: Arc<str>,
    /// The last offset that the log is sure to share with the log of the earlier epoch.
    pub(super) renamed_at: u64,
}

/// What JetStream keeps of a log besides the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The log with this message.
    pub(super) head: Head,
    /// See [`Chained::after`].
    pub(super) after: u64,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A message of the log.
    Message {
        /// The time of the message before it; 0 if this is the first one.
        before_ms: u64,
    },
    /// No message: keeps the head of a silent log, or gives the log a new epoch.
    Marker {
        /// The time at which it was written.
        written_ms: u64,
    },
}

impl Record {
    /// The message that follows `previous`. `known` is the last place that this server has seen.
    pub(super) fn next(
        previous: Option<&Head>,
        after: u64,
        known: Option<&Position>,
        now_ms: u64,
        new_epoch: impl FnOnce() -> Arc<str>,
    ) -> Self {
        let (head, before_ms) = match previous {
            None => {
                let head = Head {
                    epoch: new_epoch(),
                    offset: 0,
                    at_ms: 0,
                    earlier: "".into(),
                    renamed_at: 0,
                };
                (head, 0)
            }
            Some(previous) if known.is_some_and(|known| previous.lacks(known)) => {
                (previous.renamed(previous.offset, new_epoch()), previous.at_ms)
            }
            Some(previous) => (previous.clone(), previous.at_ms),
        };
        Self {
            head: Head {
                offset: head.offset + 1,
                at_ms: now_ms.max(before_ms),
                ..head
            },
            after,
            kind: Kind::Message { before_ms },
        }
    }

    /// The time at which the message was written, in milliseconds of Unix time.
    pub(super) fn written_ms(&self) -> u64 {
        match self.kind {
            Kind::Message { .. } => self.head.at_ms,
            Kind::Marker { written_ms } => written_ms,
        }
    }
}

impl Chained for Record {
    fn stream(streams: &Streams) -> &str {
        &streams.logs
    }

    fn field(&self) -> (&'static str, String) {
        let (name, time) = match self.kind {
            Kind::Message { before_ms } => (MESSAGE, before_ms),
            Kind::Marker { written_ms } => (MARKER, written_ms),
        };
        let Head {
            epoch,
            offset,
            at_ms,
            earlier,
            renamed_at,
        } = &self.head;
        let earlier = if earlier.is_empty() { "-" } else { earlier };
        let after = self.after;
        (
            name,
            format!("{epoch} {offset} {at_ms} {time} {after} {earlier} {renamed_at}"),
        )
    }

    fn read(header: &Header<'_>) -> Option<Self> {
        let (text, is_marker) = match (header.get(MESSAGE), header.get(MARKER)) {
            (Some(text), _) => (text, false),
            (None, marker) => (marker?, true),
        };
        let parts: Vec<_> = text.split(' ').collect();
        let [epoch, offset, at_ms, time, after, earlier, renamed_at] = parts[..] else {
            return None;
        };
        let time = time.parse().ok()?;
        Some(Self {
            head: Head {
                epoch: epoch.into(),
                offset: offset.parse().ok()?,
                at_ms: at_ms.parse().ok()?,
                earlier: if earlier == "-" { "" } else { earlier }.into(),
                renamed_at: renamed_at.parse().ok()?,
            },
            after: after.parse().ok()?,
            kind: if is_marker {
                Kind::Marker { written_ms: time }
            } else {
                Kind::Message { before_ms: time }
            },
        })
        .filter(|record| !record.head.epoch.is_empty())
    }

    fn after(&self) -> u64 {
        self.after
    }
}

impl Head {
    pub(super) fn position(&self) -> Position {
        Position {
            epoch: Arc::clone(&self.epoch),
            offset: self.offset,
            at_ms: Some(self.at_ms),
        }
    }

    /// Whether the store has gone back in time: a message of this epoch that was announced is not here, or another one is in
    /// its place.
    pub(super) fn lacks(&self, known: &Position) -> bool {
        let is_other = |at_ms| known.offset == self.offset && at_ms != self.at_ms;
        self.epoch == known.epoch && (self.offset < known.offset || known.at_ms.is_some_and(is_other))
    }

    /// The same log under a new epoch, for clients that have had messages up to `known_offset` of the old one.
    pub(super) fn renamed(&self, known_offset: u64, epoch: Arc<str>) -> Self {
        Self {
            epoch,
            earlier: Arc::clone(&self.epoch),
            renamed_at: self.offset.min(known_offset).saturating_sub(N_RECENT as u64),
            ..self.clone()
        }
    }

    /// The offset behind which the messages begin that a server needs whose last place is `known`. `None`: it knows nothing,
    /// and wants the last `n_wanted`.
    pub(super) fn start(&self, known: Option<&Position>, n_wanted: u64) -> u64 {
        match known {
            None => self.offset.saturating_sub(n_wanted),
            Some(known) if known.epoch == self.epoch => known.offset,
            Some(known) if known.epoch.is_empty() => 0,
            Some(known) if known.epoch == self.earlier => known.offset.min(self.renamed_at),
            Some(_) => self.renamed_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_nats::header;

    use super::*;

    fn head(epoch: &str, offset: u64, at_ms: u64) -> Head {
        Head {
            epoch: epoch.into(),
            offset,
            at_ms,
            earlier: "".into(),
            renamed_at: 0,
        }
    }

    fn position(epoch: &str, offset: u64, at_ms: u64) -> Position {
        Position {
            epoch: epoch.into(),
            offset,
            at_ms: Some(at_ms),
        }
    }

    #[track_caller]
    fn check_next(previous: Option<&Head>, known: Option<&Position>, now_ms: u64, expected: &str) {
        let record = Record::next(previous, 7, known, now_ms, || "new".into());
        assert_eq!(record.field(), (MESSAGE, expected.to_owned()));
    }

    #[test]
    fn a_message_follows_the_end_of_its_log() {
        check_next(None, None, 50, "new 1 50 0 7 - 0");
        check_next(None, Some(&position("old", 9, 40)), 50, "new 1 50 0 7 - 0");
        check_next(Some(&head("e", 3, 40)), None, 50, "e 4 50 40 7 - 0");
        check_next(
            Some(&head("e", 3, 40)),
            Some(&position("e", 3, 40)),
            50,
            "e 4 50 40 7 - 0",
        );
        check_next(
            Some(&head("e", 3, 40)),
            Some(&position("e", 2, 30)),
            50,
            "e 4 50 40 7 - 0",
        );
        check_next(
            Some(&head("e", 3, 40)),
            Some(&position("d", 9, 99)),
            50,
            "e 4 50 40 7 - 0",
        );
        // The clock of another server is ahead.
        check_next(Some(&head("e", 3, 60)), None, 50, "e 4 60 60 7 - 0");
    }

    #[test]
    fn a_store_that_has_gone_back_gets_a_new_epoch() {
        check_next(
            Some(&head("e", 3, 40)),
            Some(&position("e", 4, 45)),
            50,
            "new 4 50 40 7 e 0",
        );
        check_next(
            Some(&head("e", 3, 40)),
            Some(&position("e", 3, 39)),
            50,
            "new 4 50 40 7 e 0",
        );
        check_next(
            Some(&head("e", 1000, 40)),
            Some(&position("e", 1003, 45)),
            50,
            "new 1001 50 40 7 e 744",
        );
    }

    #[test]
    fn a_server_reads_from_where_it_may_differ() {
        let log = Head {
            earlier: "d".into(),
            renamed_at: 744,
            ..head("e", 1000, 40)
        };
        for (known, expected) in [
            (None, 900),
            (Some(position("e", 990, 30)), 990),
            (Some(position("", 0, 0)), 0),
            (Some(position("d", 990, 30)), 744),
            (Some(position("d", 500, 30)), 500),
            (Some(position("c", 990, 30)), 744),
        ] {
            assert_eq!(log.start(known.as_ref(), 100), expected, "{known:?}");
        }
    }

    #[test]
    fn records_come_back_as_they_were_written() {
        let renamed = head("e", 3, 40).renamed(5, "f".into());
        for kind in [Kind::Message { before_ms: 30 }, Kind::Marker { written_ms: 90 }] {
            for head in [head("e", 3, 40), renamed.clone()] {
                let record = Record { head, after: 7, kind };
                let (name, value) = record.field();
                let bytes = header(&[("Other", "x"), (name, &value)]);
                assert_eq!(Record::read(&Header::read(&bytes)), Some(record));
            }
        }
    }

    #[test]
    fn other_headers_have_none() {
        for (name, value) in [
            ("Other", "e 1 2 3 4 - 0"),
            (MESSAGE, ""),
            (MESSAGE, "e 1 2 3 4 -"),
            (MESSAGE, "e 1 2 3 4 - 0 0"),
            (MESSAGE, "e one 2 3 4 - 0"),
            (MESSAGE, " 1 2 3 4 - 0"),
            (MARKER, "e 1 2 3 4 - -1"),
        ] {
            let bytes = header(&[(name, value)]);
            assert_eq!(Record::read(&Header::read(&bytes)), None, "{name}: {value}");
        }
    }
}
