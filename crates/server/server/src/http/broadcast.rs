//! `POST /_broadcast`: one message or a batch, as in AnyCable's HTTP adapter (docs/protocols/broadcasts.md, HTTP).
//!
//! Beyond AnyCable: the body is bounded, a body that cannot be published is refused with a reason, and without a key
//! web pages of other sites cannot publish.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{
    HeaderMap, Method, Request, StatusCode,
    body::{Body, Incoming},
    header,
};
use subtle::ConstantTimeEq;

use super::{
    answers::{Answer, stopping, text, with_header},
    body,
};
use crate::{
    AcceptError, AllowedOrigins, EngineError, MAX_BROADCAST_BYTES,
    config::{BackendAccess, Broadcasts},
    idempotency::MAX_KEY_BYTES,
    request_bodies::{NoRoom, RequestBody},
    shard::Shard,
};

mod sender;

/// The header of a request that must not be carried out twice.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// How much of a body that is too large is read and discarded before the connection is closed.
const MAX_DISCARDED_BYTES: usize = 32 << 20;

/// How long a body may take: a backend on the same network sends a megabyte in milliseconds.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Why nothing was published.
pub(super) enum Refusal {
    Because(StatusCode, String),
    Stopping,
}

impl Refusal {
    fn late() -> Self {
        Self::Because(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive in time".to_owned(),
        )
    }

    /// The answer to the sender.
    pub(super) fn answer(self, shard: &Shard) -> Answer {
        match self {
            Self::Stopping => stopping(shard),
            Self::Because(status, reason) => {
                let refusal = text(status, &format!("Nothing was published: {reason}."));
                body::with_retry(refusal)
            }
        }
    }

    fn too_large() -> Self {
        Self::Because(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {MAX_BROADCAST_BYTES} bytes"),
        )
    }
}

impl From<AcceptError> for Refusal {
    fn from(error: AcceptError) -> Self {
        match error {
            AcceptError::Invalid(error) => Self::Because(StatusCode::BAD_REQUEST, error.to_string()),
            AcceptError::Stopping => Self::Stopping,
            AcceptError::Engine(error) => {
                let status = match error {
                    EngineError::Away(_) => StatusCode::SERVICE_UNAVAILABLE,
                    EngineError::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
                };
                Self::Because(status, error.to_string())
            }
        }
    }
}

/// Publishes the request's broadcasts, if the sender may.
pub(super) async fn answer(shard: &Shard, request: Request<Incoming>, broadcasts: &Broadcasts) -> Answer {
    if !broadcasts.cors {
        return answer_backend(shard, request, broadcasts).await;
    }
    let origin = request.headers().get(header::ORIGIN);
    let origin = origin.and_then(|origin| origin.to_str().ok());
    let headers = shard.config.allowed_origins.cors_headers(origin);
    // A browser's preflight request, which asks whether the page may send the key, carries no key itself.
    let mut answer = match *request.method() {
        Method::OPTIONS => text(StatusCode::OK, "Broadcasts are sent with POST."),
        _ => answer_backend(shard, request, broadcasts).await,
    };
    answer.headers_mut().extend(headers);
    answer
}

async fn answer_backend(shard: &Shard, request: Request<Incoming>, broadcasts: &Broadcasts) -> Answer {
    if request.method() != Method::POST {
        let refusal = text(StatusCode::UNPROCESSABLE_ENTITY, "Broadcasts are sent with POST.");
        return with_header(refusal, header::ALLOW, "POST");
    }
    let allowed_pages = broadcasts.cors.then_some(&shard.config.allowed_origins);
    if let Some(answer) = refused(request.headers(), &broadcasts.access, allowed_pages) {
        return answer;
    }
    let (head, body) = request.into_parts();
    match publish(shard, &head.headers, body).await {
        Ok(()) => text(StatusCode::CREATED, "Published."),
        Err(refusal) => refusal.answer(shard),
    }
}

/// The answer to a sender that may not use an interface for backends. If there is no key, [`sender`] decides.
pub(super) fn refused(
    headers: &HeaderMap,
    access: &BackendAccess,
    allowed_pages: Option<&AllowedOrigins>,
) -> Option<Answer> {
    let own_host = match access {
        BackendAccess::Key(key) if is_authorized(headers, key) => return None,
        BackendAccess::Key(_) => {
            let refusal = text(
                StatusCode::UNAUTHORIZED,
                "Send the key for backends: Authorization: Bearer <key>.",
            );
            return Some(with_header(refusal, header::WWW_AUTHENTICATE, "Bearer"));
        }
        BackendAccess::Local { host } => Some(host.as_str()),
        BackendAccess::Everybody => None,
    };
    let checked = sender::check(headers, own_host, allowed_pages);
    checked.err().map(|reason| text(StatusCode::FORBIDDEN, reason))
}

fn is_authorized(headers: &HeaderMap, key: &str) -> bool {
    let token = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    token.is_some_and(|token| token.ct_eq(key.as_bytes()).into())
}

/// Only an engine that keeps messages knows the keys of this path. Without one they have no effect, as with AnyCable.
async fn publish(shard: &Shard, headers: &HeaderMap, body: Incoming) -> Result<(), Refusal> {
    let key = match shard.config.engine {
        Some(_) => idempotency_key(headers)?,
        None => None,
    };
    let body = read(shard, body).await?;
    Ok(shard.publisher.accept_once(body.bytes(), key).await?)
}

/// The key under which a request is carried out once, if it has one.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    match headers.get(IDEMPOTENCY_KEY).map(|key| key.to_str()) {
        None => Ok(None),
        Some(Ok(key)) if (1..=MAX_KEY_BYTES).contains(&key.len()) => Ok(Some(key)),
        Some(_) => {
            let expected = format!("Idempotency-Key must have 1 to {MAX_KEY_BYTES} characters of ASCII");
            Err(Refusal::Because(StatusCode::BAD_REQUEST, expected))
        }
    }
}

/// Reads the body of a request for work. A server that stops does not wait for it.
pub(super) async fn read(shard: &Shard, mut body: Incoming) -> Result<RequestBody, Refusal> {
    let collected = tokio::select! {
        biased;
        collected = tokio::time::timeout(BODY_TIMEOUT, collect(shard, &mut body)) => {
            collected.unwrap_or_else(|_| Err(Refusal::late()))
        }
        // The client need not send the rest before it turns to another server.
        () = shard.publisher.closed() => Err(Refusal::Stopping),
    };
    if collected.is_err() {
        tokio::task::spawn_local(tokio::time::timeout(BODY_TIMEOUT, discard(body)));
    }
    collected
}

/// Reads the body. A body that is too large is refused as soon as possible: from its head if that gives the length.
async fn collect(shard: &Shard, body: &mut Incoming) -> Result<RequestBody, Refusal> {
    let mut collected = shard.shared.request_bodies.begin();
    let announced = body
        .size_hint()
        .upper()
        .and_then(|upper| usize::try_from(upper).ok());
    let max_bytes = announced.unwrap_or(MAX_BROADCAST_BYTES).min(MAX_BROADCAST_BYTES);
    let mut is_too_large = body.size_hint().lower() > MAX_BROADCAST_BYTES as u64;
    while !is_too_large && let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Refusal::Because(StatusCode::BAD_REQUEST, error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        is_too_large = collected.bytes().len() + data.len() > MAX_BROADCAST_BYTES;
        if !is_too_large && collected.extend(&data, max_bytes) == Err(NoRoom) {
            return Err(Refusal::Because(
                StatusCode::SERVICE_UNAVAILABLE,
                body::NO_ROOM.to_owned(),
            ));
        }
    }
    if is_too_large {
        Err(Refusal::too_large())
    } else {
        Ok(collected)
    }
}

/// Reads the rest of a refused body, up to a limit, while the answer goes out. A client that is still sending would get
/// a broken pipe instead of the answer.
async fn discard(mut body: Incoming) {
    let mut n_discarded = 0;
    while n_discarded < MAX_DISCARDED_BYTES
        && let Some(Ok(frame)) = body.frame().await
    {
        n_discarded += frame.data_ref().map_or(0, Bytes::len);
    }
}
