//! Parses the replies of stream commands.
//!
//! By hand, because any program may add any entry to a stream. An entry that this server does not understand must
//! become one without a payload, so that it can be acknowledged. An error would come back with every read.

use crate::resp::Reply;

/// The field that holds a broadcast.
const FIELD: &[u8] = b"payload";

/// One message of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: Vec<u8>,
    pub(super) payload: Payload,
}

/// The payload of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Payload {
    Whole(Vec<u8>),
    /// The payload has this many bytes, and was not kept.
    TooLong(u64),
    /// The message has no such field, or was deleted.
    Absent,
}

/// The reply to `XAUTOCLAIM`.
pub(super) struct Claimed {
    pub(super) entries: Vec<Entry>,
    /// The cursor at which to continue; `None` at the end.
    pub(super) next: Option<Vec<u8>>,
}

/// The entries in `[[key, [entry, …]]]`, the reply to `XREADGROUP` of one stream. The reply is nil if no message came
/// in time.
pub(super) fn of_read(reply: Reply) -> Vec<Entry> {
    let stream = reply.into_elements().into_iter().next();
    let parts = stream.map(Reply::into_elements).unwrap_or_default();
    parts.into_iter().nth(1).map(entries).unwrap_or_default()
}

/// The entries and the cursor in `[cursor, [entry, …], …]`, the reply to `XAUTOCLAIM`.
pub(super) fn of_claim(reply: Reply) -> Claimed {
    let mut parts = reply.into_elements().into_iter();
    let next = match parts.next() {
        Some(Reply::Text(cursor)) if cursor != b"0-0" => Some(cursor),
        _ => None,
    };
    let entries = parts.next().map(entries).unwrap_or_default();
    Claimed { entries, next }
}

/// The entries of a list. Nil entries were deleted, but Redis 6.2 claims them nevertheless.
fn entries(list: Reply) -> Vec<Entry> {
    list.into_elements().into_iter().filter_map(entry).collect()
}

/// `[id, [field, value, …]]`
fn entry(reply: Reply) -> Option<Entry> {
    let mut parts = reply.into_elements().into_iter();
    let Some(Reply::Text(id)) = parts.next() else {
        return None;
    };
    let payload = parts.next().map_or(Payload::Absent, payload);
    Some(Entry { id, payload })
}

fn payload(fields: Reply) -> Payload {
    let mut fields = fields.into_elements().into_iter();
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        match (name, value) {
            (Reply::Text(name), Reply::Text(value)) if name == FIELD => return Payload::Whole(value),
            (Reply::Text(name), Reply::TooLong(n_bytes)) if name == FIELD => {
                return Payload::TooLong(n_bytes);
            }
            _ => {}
        }
    }
    Payload::Absent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Reply {
        Reply::Text(text.as_bytes().to_vec())
    }

    fn list(items: impl IntoIterator<Item = Reply>) -> Reply {
        Reply::Array(items.into_iter().collect())
    }

    fn message(id: &str, fields: &[&str]) -> Reply {
        list([text(id), list(fields.iter().map(|field| text(field)))])
    }

    #[track_caller]
    fn check(entries: &[Reply], expected: &[(&str, Option<&str>)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(id, payload)| Entry {
                id: id.as_bytes().to_vec(),
                payload: payload.map_or(Payload::Absent, |payload| Payload::Whole(payload.into())),
            })
            .collect();
        let entries = list(entries.iter().cloned());
        assert_eq!(of_read(list([list([text("stream"), entries.clone()])])), expected);
        let claimed = of_claim(list([text("0-0"), entries, list([])]));
        assert_eq!(claimed.entries, expected);
        assert_eq!(claimed.next, None);
    }

    #[test]
    fn every_entry_comes_out_whatever_it_holds() {
        check(&[], &[]);
        check(
            &[
                message("1-0", &["payload", "a"]),
                message("2-0", &["x", "y", "payload", "b"]),
            ],
            &[("1-0", Some("a")), ("2-0", Some("b"))],
        );
        check(&[message("1-0", &["other", "payload"])], &[("1-0", None)]);
        check(&[list([text("1-0"), Reply::Nil])], &[("1-0", None)]);
        check(
            &[Reply::Nil, message("2-0", &["payload", ""])],
            &[("2-0", Some(""))],
        );
    }

    #[test]
    fn a_payload_that_was_not_kept_is_not_an_absent_one() {
        let fields = list([text("x"), Reply::TooLong(8), text("payload"), Reply::TooLong(9)]);
        let reply = list([list([text("stream"), list([list([text("1-0"), fields])])])]);
        let expected = Entry {
            id: b"1-0".to_vec(),
            payload: Payload::TooLong(9),
        };
        assert_eq!(of_read(reply), [expected]);
    }

    #[test]
    fn nothing_in_time_is_nothing() {
        assert_eq!(of_read(Reply::Nil), []);
    }

    #[test]
    fn a_claim_says_where_to_go_on() {
        let claimed = of_claim(list([text("7-1"), list([message("7-0", &["payload", "a"])])]));
        assert_eq!(claimed.next.as_deref(), Some(b"7-1".as_slice()));
        assert_eq!(claimed.entries.len(), 1);
    }
}
