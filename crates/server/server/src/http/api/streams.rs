//! `GET <api_path>/streams`: the streams of which messages are kept, the largest first.

use serde::Serialize;

use crate::{
    archive::StreamState,
    http::{
        answers::{Answer, bad_query, json, no_broker},
        query,
    },
    shard::Shard,
};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;

#[derive(Serialize)]
struct Document {
    /// The number of all streams with a log.
    total: usize,
    streams: Vec<StreamState>,
}

pub(super) fn answer(shard: &Shard, query: &str) -> Answer {
    let Some(archive) = &shard.shared.archive else {
        return no_broker();
    };
    let wanted = query::parameters(query, ["prefix", "limit"]).and_then(|[prefix, limit]| {
        let limit = query::limit(limit.as_ref(), DEFAULT_LIMIT, MAX_LIMIT)?;
        Ok((prefix.unwrap_or_default(), limit))
    });
    match wanted {
        Ok((prefix, limit)) => {
            let (streams, total) = archive.largest(limit, &prefix);
            json(&Document { total, streams })
        }
        Err(problem) => bad_query(&problem),
    }
}
