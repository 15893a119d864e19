//! Reading the replies of stream commands.
//!
//! By hand, because anybody may add anything to a stream: an entry that this server does not understand must come
//! out as one without a payload, so that it can be acknowledged. An error would come back with every read.

use redis::Value;

/// The field that holds a broadcast.
const FIELD: &[u8] = b"payload";

/// One message of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: Vec<u8>,
    /// Absent when the message has no such field, or was deleted.
    pub(super) payload: Option<Vec<u8>>,
}

/// What `XAUTOCLAIM` gave.
pub(super) struct Claimed {
    pub(super) entries: Vec<Entry>,
    /// Where to go on; `None` at the end.
    pub(super) next: Option<Vec<u8>>,
}

/// Entries in `[[key, [entry, …]]]`, the reply to `XREADGROUP` of one stream; nil when nothing came in time.
pub(super) fn of_read(reply: Value) -> Vec<Entry> {
    let stream = items(reply).into_iter().next().map(items).unwrap_or_default();
    stream.into_iter().nth(1).map(entries).unwrap_or_default()
}

/// Reads `[cursor, [entry, …], …]`, the reply to `XAUTOCLAIM`.
pub(super) fn of_claim(reply: Value) -> Claimed {
    let mut parts = items(reply).into_iter();
    let next = match parts.next() {
        Some(Value::BulkString(cursor)) if cursor != b"0-0" => Some(cursor),
        _ => None,
    };
    let entries = parts.next().map(entries).unwrap_or_default();
    Claimed { entries, next }
}

/// Entries that are nil were deleted; Redis 6.2 claims them nevertheless.
fn entries(list: Value) -> Vec<Entry> {
    items(list).into_iter().filter_map(entry).collect()
}

/// `[id, [field, value, …]]`
fn entry(value: Value) -> Option<Entry> {
    let mut parts = items(value).into_iter();
    let Some(Value::BulkString(id)) = parts.next() else {
        return None;
    };
    let payload = parts.next().and_then(payload);
    Some(Entry { id, payload })
}

fn payload(fields: Value) -> Option<Vec<u8>> {
    let mut fields = items(fields).into_iter();
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        match (name, value) {
            (Value::BulkString(name), Value::BulkString(value)) if name == FIELD => return Some(value),
            _ => {}
        }
    }
    None
}

fn items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::Array(items.into_iter().collect())
    }

    fn message(id: &str, fields: &[&str]) -> Value {
        list([text(id), list(fields.iter().map(|field| text(field)))])
    }

    #[track_caller]
    fn check(entries: &[Value], expected: &[(&str, Option<&str>)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(id, payload)| Entry {
                id: id.as_bytes().to_vec(),
                payload: payload.map(|payload| payload.as_bytes().to_vec()),
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
        check(&[list([text("1-0"), Value::Nil])], &[("1-0", None)]);
        check(
            &[Value::Nil, message("2-0", &["payload", ""])],
            &[("2-0", Some(""))],
        );
    }

    #[test]
    fn nothing_in_time_is_nothing() {
        assert_eq!(of_read(Value::Nil), []);
    }

    #[test]
    fn a_claim_says_where_to_go_on() {
        let claimed = of_claim(list([text("7-1"), list([message("7-0", &["payload", "a"])])]));
        assert_eq!(claimed.next.as_deref(), Some(b"7-1".as_slice()));
        assert_eq!(claimed.entries.len(), 1);
    }
}
