//! `POST /_broadcast`: one message or a batch, as AnyCable's HTTP adapter takes them (spec §4.2).
//!
//! Beyond AnyCable: the body is bounded, and a body that cannot be published is refused with a reason.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{
    Method, Request, StatusCode,
    body::{Body, Incoming},
    header,
};
use subtle::ConstantTimeEq;

use super::{Answer, text, with_header};
use crate::{MAX_BROADCAST_BYTES, shard::Shard};

/// How much of a body that is too large is still read, and thrown away, before the connection is closed.
const MAX_DISCARDED_BYTES: usize = 32 << 20;

/// How long a body may take: a backend on the same network sends a megabyte in milliseconds.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Publishes what the request says; `key` is what it must know, if anything.
pub(super) async fn answer(shard: &Shard, request: Request<Incoming>, key: Option<&String>) -> Answer {
    if !shard.config.broadcast_cors {
        return answer_backend(shard, request, key).await;
    }
    let origin = request.headers().get(header::ORIGIN);
    let origin = origin.and_then(|origin| origin.to_str().ok());
    let headers = shard.config.allowed_origins.cors_headers(origin);
    // A browser asks without the key whether it may ask with it.
    let mut answer = match *request.method() {
        Method::OPTIONS => text(StatusCode::OK, "Broadcasts are sent with POST."),
        _ => answer_backend(shard, request, key).await,
    };
    answer.headers_mut().extend(headers);
    answer
}

async fn answer_backend(shard: &Shard, request: Request<Incoming>, key: Option<&String>) -> Answer {
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

/// Reads the body. One that is too large is refused as soon as that is clear: from its head if that tells the
/// length.
async fn collect(mut body: Incoming) -> Result<Vec<u8>, (StatusCode, String)> {
    let mut collected = Vec::new();
    let mut is_too_large = body.size_hint().lower() > MAX_BROADCAST_BYTES as u64;
    while !is_too_large && let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        is_too_large = collected.len() + data.len() > MAX_BROADCAST_BYTES;
        collected.extend_from_slice(&data);
    }
    if !is_too_large {
        return Ok(collected);
    }
    tokio::task::spawn_local(tokio::time::timeout(BODY_TIMEOUT, discard(body)));
    Err((
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is larger than {MAX_BROADCAST_BYTES} bytes"),
    ))
}

/// Takes what is left of a body, within reason, while the answer goes out: a client that is still sending would get
/// a broken pipe instead of the answer.
async fn discard(mut body: Incoming) {
    let mut n_discarded = 0;
    while n_discarded < MAX_DISCARDED_BYTES
        && let Some(Ok(frame)) = body.frame().await
    {
        n_discarded += frame.data_ref().map_or(0, Bytes::len);
    }
}
