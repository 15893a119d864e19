//! Reading the list of a group's members, the reply to `XINFO CONSUMERS`.

use std::time::Duration;

use crate::resp::Reply;

/// The names of members that hold no messages and have been silent for this long.
pub(super) fn idle_for(reply: Reply, duration: Duration) -> Vec<Vec<u8>> {
    let consumers = reply.into_elements().into_iter();
    consumers
        .filter_map(|consumer| name_if_idle(consumer.into_elements(), duration))
        .collect()
}

/// `["name", name, "pending", n, "idle", ms, …]`
fn name_if_idle(fields: Vec<Reply>, duration: Duration) -> Option<Vec<u8>> {
    let (mut name, mut n_pending, mut idle_ms) = (None, None, None);
    let mut fields = fields.into_iter();
    while let (Some(Reply::Text(key)), Some(value)) = (fields.next(), fields.next()) {
        match (key.as_slice(), value) {
            (b"name", Reply::Text(text)) => name = Some(text),
            (b"pending", Reply::Integer(number)) => n_pending = Some(number),
            (b"idle", Reply::Integer(number)) => idle_ms = u64::try_from(number).ok(),
            _ => {}
        }
    }
    let is_idle = n_pending == Some(0) && Duration::from_millis(idle_ms?) >= duration;
    name.filter(|_| is_idle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumer(name: &str, n_pending: i64, idle_ms: i64) -> Reply {
        let text = |text: &str| Reply::Text(text.into());
        Reply::Array(vec![
            text("name"),
            text(name),
            text("pending"),
            Reply::Integer(n_pending),
            text("idle"),
            Reply::Integer(idle_ms),
            text("inactive"),
            Reply::Integer(-1),
        ])
    }

    #[test]
    fn only_those_without_messages_that_have_been_silent() {
        let list = Reply::Array(vec![
            consumer("gone", 0, 5_000),
            consumer("holds messages", 1, 5_000),
            consumer("alive", 0, 4_999),
            consumer("gone, too", 0, 1 << 40),
            consumer("odd", 0, -1),
            Reply::Array(vec![]),
            Reply::Nil,
        ]);
        let names = idle_for(list, Duration::from_secs(5));
        assert_eq!(names, [b"gone".to_vec(), b"gone, too".to_vec()]);
        assert!(idle_for(Reply::Nil, Duration::ZERO).is_empty());
    }
}
