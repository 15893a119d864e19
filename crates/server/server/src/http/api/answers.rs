//! Answers of the API's paths about what is kept.

use hyper::StatusCode;
use serde::Serialize;

use crate::http::answers::{Answer, answer_of, text};

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

pub(super) fn no_broker() -> Answer {
    let reason = "The server keeps no messages; start it with --broker memory.";
    text(StatusCode::NOT_IMPLEMENTED, reason)
}

pub(super) fn bad_query(problem: &str) -> Answer {
    text(StatusCode::BAD_REQUEST, problem)
}
