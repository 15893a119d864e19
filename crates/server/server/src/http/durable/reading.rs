//! A part of a stream, as readers of Durable Streams get it.

use std::sync::Arc;

use bytes::Bytes;
use plimsoll_broker::Refused;

use super::offset::Offset;
use crate::{archive::Archive, http::kept_data, mailbox::Kept};

/// The most messages of one part, AnyCable's number.
const MAX_MESSAGES: usize = 100;

/// Messages, and where the next part begins.
#[derive(Debug)]
pub(super) struct Reading {
    messages: Vec<Arc<Kept>>,
    /// The offset of the next part.
    pub(super) next: Offset,
    /// Whether the stream has no message behind these.
    pub(super) is_up_to_date: bool,
}

/// Reads behind an offset: about `max_bytes` bytes, of which the last message may be more.
///
/// # Errors
/// Messages behind the offset are gone, or the offset is not of this stream.
pub(super) fn read(
    archive: &Archive,
    stream: &str,
    offset: &Offset,
    max_bytes: usize,
    now_secs: u64,
) -> Result<Reading, Refused> {
    let (n, room) = match offset {
        Offset::Now => (0, 0),
        _ => (MAX_MESSAGES, max_bytes),
    };
    let page = archive.page(stream, offset.start(), n, room)?;
    let position = |offset, epoch: &str| Offset::After {
        offset,
        epoch: epoch.to_owned(),
    };
    let next = match (page.messages.last(), &page.outline, offset) {
        (Some(last), ..) => position(last.offset, &last.label.epoch),
        (None, _, Offset::After { .. }) => offset.clone(),
        (None, Some(outline), _) => position(outline.top, &outline.label.epoch),
        (None, None, Offset::NoLog { .. }) => offset.clone(),
        (None, None, _) => Offset::NoLog { at_secs: now_secs },
    };
    Ok(Reading {
        messages: page.messages,
        next,
        is_up_to_date: *offset == Offset::Now || !page.has_more,
    })
}

impl Reading {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The messages as a JSON list.
    pub(super) fn json(&self) -> Bytes {
        let data = self.messages.iter().filter_map(|kept| kept_data::of(kept));
        let list: Vec<_> = data.map(|(_, data)| data).collect();
        let json = serde_json::to_vec(&list).expect("JSON and texts always serialise");
        json.into()
    }

    /// A text that is another one if the answer is another one.
    pub(super) fn tag(&self) -> String {
        let first = self.messages.first().map_or(0, |kept| kept.offset);
        let end = if self.is_up_to_date { "t" } else { "p" };
        format!("\"{first}:{}:{end}\"", self.next)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_broker::{Retention, Retentions, Settings, Truncation};
    use plimsoll_cable::broadcast::Publication;
    use plimsoll_telemetry::Registry;

    use super::*;
    use crate::mailbox::{Completion, Outgoing};

    const PLENTY: usize = 1 << 20;

    fn archive(limit: usize) -> Arc<Archive> {
        let settings = Settings {
            retentions: Retentions {
                default: Retention {
                    limit,
                    ttl: Duration::from_secs(300),
                },
                by_pattern: Vec::new(),
            },
            max_bytes: usize::MAX,
            truncation: Truncation::Refuse,
        };
        Archive::new(settings, &Registry::default())
    }

    fn publish(archive: &Archive, data: &str) {
        let registry = Registry::default();
        let completion = Completion::new(registry.histogram("h", "h", &[]), None);
        let publication = Publication::from_json("s", data);
        archive.keep(Outgoing::new(publication, completion), drop);
    }

    fn offset(text: &str) -> Offset {
        Offset::parse(Some(text)).expect("an offset")
    }

    #[track_caller]
    fn check(archive: &Archive, from: &Offset, expected: &str, is_up_to_date: bool) -> Offset {
        let reading = read(archive, "s", from, PLENTY, 1000).expect("it is not refused");
        assert_eq!(
            (&*reading.json(), reading.is_up_to_date),
            (expected.as_bytes(), is_up_to_date),
            "{from}"
        );
        reading.next
    }

    #[test]
    fn a_reader_goes_on_where_it_was_and_hears_of_gaps() {
        let archive = archive(3);
        let empty = check(&archive, &Offset::Beginning, "[]", true);
        assert_eq!(empty, Offset::NoLog { at_secs: 1000 });
        assert_eq!(check(&archive, &empty, "[]", true), empty);
        assert_eq!(check(&archive, &Offset::Now, "[]", true), empty);
        publish(&archive, r#"{"n": 1.0}"#);
        publish(&archive, "no JSON");
        let second = check(&archive, &empty, r#"[{"n": 1.0},"no JSON"]"#, true);
        assert_eq!(check(&archive, &second, "[]", true), second);
        assert_eq!(check(&archive, &Offset::Now, "[]", true), second);
        publish(&archive, "3");
        publish(&archive, "4");
        check(&archive, &second, "[3,4]", true);
        // From the beginning means: all that is kept.
        check(&archive, &Offset::Beginning, r#"["no JSON",3,4]"#, true);
        // A reader of the empty stream has missed the first message.
        let refused = |from: &Offset| read(&archive, "s", from, PLENTY, 1000).is_err();
        assert!(refused(&empty));
        assert!(refused(&offset("0000000000000002::another")));
        assert!(refused(&Offset::After {
            offset: 9,
            epoch: "x".to_owned()
        }));
    }

    #[test]
    fn parts_are_bounded_by_number_and_bytes() {
        let archive = archive(1000);
        (0..250).for_each(|n| publish(&archive, &n.to_string()));
        let mut from = Offset::Beginning;
        let mut sizes = Vec::new();
        loop {
            let reading = read(&archive, "s", &from, PLENTY, 1000).expect("it is not refused");
            sizes.push(reading.messages.len());
            from = reading.next;
            if reading.is_up_to_date {
                break;
            }
        }
        assert_eq!(sizes, [100, 100, 50]);
        let small = read(&archive, "s", &Offset::Beginning, 4, 1000).expect("it is not refused");
        assert!(!small.is_up_to_date && !small.is_empty() && small.messages.len() < 10);
    }

    #[test]
    fn tags_differ_with_the_messages() {
        let archive = archive(2);
        let tag = || {
            read(&archive, "s", &Offset::Beginning, PLENTY, 1000)
                .expect("it is not refused")
                .tag()
        };
        let mut tags = vec![tag()];
        for _ in 0..4 {
            publish(&archive, "1");
            assert_eq!(tag(), tag());
            tags.push(tag());
        }
        let n_tags = tags.len();
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), n_tags);
    }
}
