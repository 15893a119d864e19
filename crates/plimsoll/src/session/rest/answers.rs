//! What is answered to which request. Pure, but for orders that are carried out.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{
    orders::{OrderError, Orders},
    snapshot::Snapshot,
};

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    /// Whether it names this machine by a name that is expected.
    pub(super) is_expected: bool,
    /// The header `Content-Type`.
    pub(super) content_type: Option<&'a str>,
    pub(super) body: &'a [u8],
}

/// A response.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    /// HTTP's status code.
    pub(super) status: u16,
    /// The body; `None` is empty.
    pub(super) document: Option<Value>,
}

/// The media types of orders.
const JSON: [&str; 2] = ["application/json", "application/vnd.api+json"];

impl Answer {
    fn data(data: Value) -> Self {
        Self {
            status: 200,
            document: Some(Map::from_iter([("data".to_owned(), data)]).into()),
        }
    }

    /// An error document.
    pub(super) fn refusal(status: u16, detail: &str) -> Self {
        let code = hyper::StatusCode::from_u16(status).unwrap_or_default();
        let title = code.canonical_reason().unwrap_or_default();
        let error = json!({ "status": status.to_string(), "title": title, "detail": detail });
        Self {
            status,
            document: Some(json!({ "errors": [error] })),
        }
    }
}

/// Answers `question` from the last known state of the run.
pub(super) fn answer(question: &Question<'_>, snapshot: &Snapshot, orders: &Orders) -> Answer {
    if !question.is_expected {
        return Answer::refusal(
            403,
            "expected a host such as localhost:6565, or a name of --address-hosts",
        );
    }
    let path = question.path.trim_end_matches('/');
    let is_reading = question.method == "GET";
    match path {
        "/v1/status" if question.method == "PATCH" => patch_status(question, snapshot, orders),
        "/v1/status" if is_reading => Answer::data(snapshot.status(orders.state(), orders.is_stopped())),
        "/v1/metrics" if is_reading => Answer::data(snapshot.metrics()),
        "/v1/groups" if is_reading => Answer::data(snapshot.groups()),
        "/v1/setup" | "/v1/teardown" => Answer::refusal(
            501,
            "setup and teardown cannot be called or replaced from outside",
        ),
        _ if is_reading => one_of_many(path, snapshot),
        "/v1/status" => Answer::refusal(405, "expected GET or PATCH"),
        "/v1/metrics" | "/v1/groups" => Answer::refusal(405, "expected GET"),
        _ => nothing_there(),
    }
}

fn one_of_many(path: &str, snapshot: &Snapshot) -> Answer {
    let found = if let Some(name) = path.strip_prefix("/v1/metrics/") {
        snapshot
            .metric(&decoded(name))
            .ok_or("no metric of this name has samples")
    } else if let Some(id) = path.strip_prefix("/v1/groups/") {
        snapshot.group(id).ok_or("no group has this id")
    } else {
        return nothing_there();
    };
    found.map_or_else(|detail| Answer::refusal(404, detail), Answer::data)
}

fn nothing_there() -> Answer {
    Answer::refusal(404, "expected /v1/status, /v1/metrics or /v1/groups")
}

fn patch_status(question: &Question<'_>, snapshot: &Snapshot, orders: &Orders) -> Answer {
    let media_type = question.content_type.and_then(|value| value.split(';').next());
    let is_json =
        media_type.is_some_and(|found| JSON.iter().any(|json| found.trim().eq_ignore_ascii_case(json)));
    if !is_json {
        // A web page cannot send this type to another site without being asked first, and is then refused.
        return Answer::refusal(415, "expected Content-Type: application/json");
    }
    match orders.take(question.body) {
        Ok(()) => Answer::data(snapshot.status(orders.state(), orders.is_stopped())),
        Err(error @ OrderError::Unreadable(_)) => Answer::refusal(400, &error.to_string()),
        Err(error) => Answer::refusal(409, &error.to_string()),
    }
}

/// A part of a path as it was meant: `%7B` is `{` (RFC 3986, section 2.1).
fn decoded(part: &str) -> Cow<'_, str> {
    if !part.contains('%') {
        return part.into();
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| part_of_hex(after)).flatten();
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

fn part_of_hex(bytes: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(bytes.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests;
