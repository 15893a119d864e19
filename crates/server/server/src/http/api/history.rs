//! `GET <api_path>/history/<stream>`: the messages that are kept of a stream.

use hyper::StatusCode;
use plimsoll_broker::Start;
use serde::Serialize;

use crate::{
    archive::Page,
    http::{
        answers::{Answer, bad_query, json, no_broker, text},
        kept_data::{self, Data},
        query,
    },
    mailbox::Kept,
    shard::Shard,
};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;

/// The memory of the messages of one answer, in bytes. The last message may exceed it.
const MAX_BYTES: usize = 1 << 20;

#[derive(Serialize)]
struct Document<'a> {
    stream: &'a str,
    /// Absent if the stream has no log.
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<&'a str>,
    /// The offset of the last message of the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    messages: Vec<Message<'a>>,
    has_more: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    offset: u64,
    at_ms: u64,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    data: Data<'a>,
}

pub(super) async fn answer(shard: &Shard, stream: &str, query: &str) -> Answer {
    let Some(archive) = &shard.shared.archive else {
        return no_broker();
    };
    let wanted = match Wanted::parse(query) {
        Ok(wanted) => wanted,
        Err(problem) => return bad_query(&problem),
    };
    // With an engine that keeps messages, the archive has only the streams that this server hears.
    let _heard = shard.hear(&[stream.to_owned()]).await;
    match archive.page(stream, wanted.start(), wanted.limit, MAX_BYTES) {
        Ok(page) => json(&document(stream, &page)),
        Err(refused) => text(StatusCode::GONE, &format!("There is no such answer: {refused}.")),
    }
}

/// The wanted part of the history.
struct Wanted {
    since: Option<u64>,
    after: Option<(u64, String)>,
    limit: usize,
}

impl Wanted {
    fn parse(query: &str) -> Result<Self, String> {
        let [since, after, epoch, limit] = query::parameters(query, ["since", "after", "epoch", "limit"])?;
        let since = query::number("since", since.as_ref())?;
        let after = query::number("after", after.as_ref())?;
        let after = match (after, epoch) {
            (Some(after), Some(epoch)) => Some((after, epoch)),
            (None, None) => None,
            _ => return Err("The parameters after and epoch belong together.".to_owned()),
        };
        if since.is_some() && after.is_some() {
            return Err("Give either since, or after and epoch.".to_owned());
        }
        Ok(Self {
            since,
            after,
            limit: query::limit(limit.as_ref(), DEFAULT_LIMIT, MAX_LIMIT)?,
        })
    }

    fn start(&self) -> Option<Start<'_>> {
        let after = self.after.as_ref().map(|(offset, epoch)| Start::After {
            epoch,
            offset: *offset,
        });
        after.or(self.since.map(Start::Since))
    }
}

fn document<'a>(stream: &'a str, page: &'a Page) -> Document<'a> {
    let outline = page.outline.as_ref();
    Document {
        stream,
        epoch: outline.map(|outline| &*outline.label.epoch),
        offset: outline.map(|outline| outline.top),
        messages: page.messages.iter().filter_map(|kept| message(kept)).collect(),
        has_more: page.has_more,
    }
}

/// A message of the history, in which there are no bytes.
fn message(kept: &Kept) -> Option<Message<'_>> {
    let (kind, data) = kept_data::of(kept)?;
    Some(Message {
        offset: kept.offset,
        at_ms: kept.at_ms,
        kind,
        data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_a_time_or_a_position() {
        let start = |query: &str| {
            Wanted::parse(query).map(|wanted| match wanted.start() {
                None => "all".to_owned(),
                Some(start) => format!("{start:?} {}", wanted.limit),
            })
        };
        for (query, expected) in [
            ("", Ok("all")),
            ("since=5", Ok("Since(5) 100")),
            (
                "after=0&epoch=x&limit=3",
                Ok("After { epoch: \"x\", offset: 0 } 3"),
            ),
            ("after=1", Err("The parameters after and epoch belong together.")),
            ("epoch=x", Err("The parameters after and epoch belong together.")),
            (
                "since=1&after=1&epoch=x",
                Err("Give either since, or after and epoch."),
            ),
            (
                "since=x",
                Err("The parameter since is not a whole number of at least 0."),
            ),
        ] {
            let found = start(query);
            let found = found.as_deref().map_err(String::as_str);
            assert_eq!(found, expected, "{query}");
        }
    }
}
