//! `POST /_broadcast`: one message or a batch, as AnyCable's HTTP adapter takes them (spec §4.2).
//!
//! Beyond AnyCable: the body is bounded, and a body that cannot be published is refused with a reason.

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{Method, Request, StatusCode, body::Incoming, header};
use plimsoll_cable::broadcast::{self, Publication};
use subtle::ConstantTimeEq;

use super::{Answer, text, with_header};
use crate::shard::Shard;

/// The largest body. A batch of a thousand messages of a kilobyte fits.
const MAX_BODY_BYTES: usize = 1 << 20;

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
    match read(request).await {
        Ok(publications) => {
            for publication in publications {
                shard.publisher.publish(publication).await;
            }
            text(StatusCode::CREATED, "Published.")
        }
        Err((status, reason)) => text(status, &reason),
    }
}

fn is_authorized(request: &Request<Incoming>, key: &str) -> bool {
    let token = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    token.is_some_and(|token| token.ct_eq(key.as_bytes()).into())
}

async fn read(request: Request<Incoming>) -> Result<Vec<Publication>, (StatusCode, String)> {
    let body = collect(request).await?;
    broadcast::parse(&body).map_err(|error| {
        (
            StatusCode::BAD_REQUEST,
            format!("Nothing was published: {error}."),
        )
    })
}

async fn collect(request: Request<Incoming>) -> Result<Bytes, (StatusCode, String)> {
    match Limited::new(request.into_body(), MAX_BODY_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err((
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("Nothing was published: the body is larger than {MAX_BODY_BYTES} bytes."),
        )),
        Err(error) => Err((
            StatusCode::BAD_REQUEST,
            format!("Nothing was published: {error}."),
        )),
    }
}
