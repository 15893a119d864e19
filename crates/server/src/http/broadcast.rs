//! `POST /_broadcast`: one message or a batch, as AnyCable's HTTP adapter takes them (spec §4.2).
//!
//! Beyond AnyCable: the body is bounded, and a body that cannot be published is refused with a reason.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::{Method, Request, StatusCode, body::Incoming, header};
use subtle::ConstantTimeEq;

use super::{Answer, text, with_header};
use crate::shard::Shard;

/// The largest body. A batch of a thousand messages of a kilobyte fits.
const MAX_BODY_BYTES: usize = 1 << 20;

/// How much of a larger one is still read, and thrown away, before the connection is closed.
const MAX_DISCARDED_BYTES: usize = 32 << 20;

/// How long a body may take: a backend on the same network sends a megabyte in milliseconds.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Publishes what the request says; `key` is what it must know, if anything.
pub(super) async fn answer(shard: &Shard, request: Request<Incoming>, key: Option<&String>) -> Answer {
    if request.method() != Method::POST {
        let refusal = text(StatusCode::UNPROCESSABLE_ENTITY, "Broadcasts are sent with POST.");
        return with_header(refusal, header::ALLOW, "POST");
    }
    if !key.is_none_or(|key| is_authorized(&request, key)) {
        let refusal = text(
            StatusCode::UNAUTHORIZED,
            "Send the broadcast key: Authorization: Bearer <key>.",
        );
        return with_header(refusal, header::WWW_AUTHENTICATE, "Bearer");
    }
    match publish(shard, request).await {
        Ok(()) => text(StatusCode::CREATED, "Published."),
        Err((status, reason)) => text(status, &format!("Nothing was published: {reason}.")),
    }
}

fn is_authorized(request: &Request<Incoming>, key: &str) -> bool {
    let token = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    token.is_some_and(|token| token.ct_eq(key.as_bytes()).into())
}

async fn publish(shard: &Shard, request: Request<Incoming>) -> Result<(), (StatusCode, String)> {
    let body = tokio::time::timeout(BODY_TIMEOUT, collect(request.into_body()))
        .await
        .unwrap_or_else(|_| {
            Err((
                StatusCode::REQUEST_TIMEOUT,
                "the body did not arrive in time".to_owned(),
            ))
        });
    let published = shard.publisher.accept(&body?).await;
    published.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))
}

/// Reads the body. Of one that is too large the rest is read too, within reason: a client that is still sending
/// would get a broken pipe instead of the answer.
async fn collect(mut body: Incoming) -> Result<Vec<u8>, (StatusCode, String)> {
    let mut collected = Vec::new();
    let mut n_read = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        n_read += data.len();
        if n_read <= MAX_BODY_BYTES {
            collected.extend_from_slice(&data);
        } else if n_read > MAX_DISCARDED_BYTES {
            break;
        }
    }
    match n_read {
        0..=MAX_BODY_BYTES => Ok(collected),
        _ => Err((
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {MAX_BODY_BYTES} bytes"),
        )),
    }
}
