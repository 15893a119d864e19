//! Small request bodies: read whole, up to a size, within a time, and within the memory limit for all bodies.

use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{StatusCode, body::Incoming, header};

use super::answers::{Answer, text, with_header};
use crate::{
    request_bodies::{NoRoom, RequestBody},
    shard::Shard,
};

/// The text of a 503 for a valid request whose body finds no room.
pub(super) const NO_ROOM: &str = "the server is reading too many request bodies; see --max_body_total";

/// Reads the body. If that fails, returns the answer for the client.
pub(super) async fn read(
    shard: &Shard,
    body: Incoming,
    max_bytes: usize,
    patience: Duration,
) -> Result<RequestBody, Answer> {
    match tokio::time::timeout(patience, collect(shard, body, max_bytes)).await {
        Ok(read) => read,
        Err(_) => Err(text(
            StatusCode::REQUEST_TIMEOUT,
            "The body did not arrive in time.",
        )),
    }
}

async fn collect(shard: &Shard, body: Incoming, max_bytes: usize) -> Result<RequestBody, Answer> {
    let mut limited = Limited::new(body, max_bytes);
    let mut collected = shard.shared.request_bodies.begin();
    while let Some(frame) = limited.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                text(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    &format!("The body is larger than {max_bytes} bytes."),
                )
            } else {
                text(StatusCode::BAD_REQUEST, &format!("The body is broken: {error}."))
            }
        })?;
        let data = frame.into_data().unwrap_or_default();
        if collected.extend(&data, max_bytes) == Err(NoRoom) {
            let refusal = format!("The body was not read: {NO_ROOM}.");
            return Err(with_retry(text(StatusCode::SERVICE_UNAVAILABLE, &refusal)));
        }
    }
    Ok(collected)
}

/// Adds a retry time to a 503. Bodies are read within seconds.
pub(super) fn with_retry(answer: Answer) -> Answer {
    match answer.status() {
        StatusCode::SERVICE_UNAVAILABLE => with_header(answer, header::RETRY_AFTER, "1"),
        _ => answer,
    }
}
