//! Answers, and those that tell clients to come back later.

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::{Response, StatusCode, header};
use serde::Serialize;

use super::flow::Flow;
use crate::shard::Shard;

/// An answer. Its body is complete, or goes on.
pub(super) type Answer = Response<Either<Full<Bytes>, Flow>>;

/// The answer to every request for work while the server stops.
pub(super) fn stopping(shard: &Shard) -> Answer {
    try_again(shard, "The server is stopping.")
}

pub(super) fn no_room(shard: &Shard) -> Answer {
    try_again(shard, "The server accepts no more connections.")
}

fn try_again(shard: &Shard, reason: &str) -> Answer {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    shard.metrics.count_refusal(status);
    with_header(text(status, reason), header::RETRY_AFTER, "1")
}

pub(super) fn text(status: StatusCode, text: &str) -> Answer {
    answer_of(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

pub(super) fn answer_of(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(body.into())));
    *answer.status_mut() = status;
    with_header(answer, header::CONTENT_TYPE, content_type)
}

/// A document as JSON.
pub(super) fn json(document: &impl Serialize) -> Answer {
    match serde_json::to_string(document) {
        Ok(text) => answer_of(StatusCode::OK, "application/json", text),
        Err(error) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            &format!("The answer cannot be written as JSON: {error}."),
        ),
    }
}

pub(super) fn bad_query(problem: &str) -> Answer {
    text(StatusCode::BAD_REQUEST, problem)
}

pub(super) fn no_broker() -> Answer {
    let reason = "The server keeps no messages; start it with --broker memory.";
    text(StatusCode::NOT_IMPLEMENTED, reason)
}

pub(super) fn with_header(mut answer: Answer, name: header::HeaderName, value: &'static str) -> Answer {
    answer
        .headers_mut()
        .insert(name, header::HeaderValue::from_static(value));
    answer
}
