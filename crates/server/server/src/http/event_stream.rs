//! Event streams begin like any other request, on a new or a kept connection. A valid request leaves HTTP behind and
//! takes its connection along; see [`crate::endpoint::events`].

use std::net::SocketAddr;

use hyper::{Method, Request, StatusCode, body::Incoming, header};

use super::{
    answers::{Answer, text, with_header},
    body, head,
};
use crate::{
    endpoint::events::{Opening, wanted::Wanted},
    shard::Shard,
};

/// The largest body of a `POST`, AnyCable's limit: hundreds of subscriptions.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Checks a request for an event stream. Requests that lead to none are answered here.
pub(super) async fn receive(
    shard: &Shard,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Result<Opening, Answer> {
    let origin = request
        .headers()
        .get(header::ORIGIN)
        .map(|origin| String::from_utf8_lossy(origin.as_bytes()).into_owned());
    let cors = shard.config.allowed_origins.cors_headers(origin.as_deref());
    let result = match *request.method() {
        // Requests of pages to their own host have no `Origin`, and neither have those of programs.
        _ if origin.is_some() && !shard.config.allowed_origins.allows(origin.as_deref()) => Err(text(
            StatusCode::FORBIDDEN,
            "Pages of this origin are not allowed to connect; see --allowed_origins.",
        )),
        Method::OPTIONS => Err(text(StatusCode::OK, "Event streams need GET or POST.")),
        Method::GET | Method::POST => read(shard, request, peer).await,
        _ => {
            let answer = text(StatusCode::METHOD_NOT_ALLOWED, "Event streams need GET or POST.");
            Err(with_header(answer, header::ALLOW, "GET, POST, OPTIONS"))
        }
    };
    match result {
        Ok(opening) => Ok(Opening { cors, ..opening }),
        Err(mut answer) => {
            answer.headers_mut().extend(cors);
            Err(answer)
        }
    }
}

async fn read(shard: &Shard, request: Request<Incoming>, peer: SocketAddr) -> Result<Opening, Answer> {
    let (head, body) = request.into_parts();
    let body = match head.method {
        Method::POST => Some(body::read(shard, body, MAX_BODY_BYTES, shard.config.handshake_timeout).await?),
        _ => None,
    };
    let head = head::wire_form(&head);
    let request = head::parse(&head).map_err(|refusal| *refusal)?;
    let wanted = match body {
        Some(body) => Wanted::from_body(&request, body.bytes()),
        None => Wanted::from_query(&request),
    };
    let Wanted {
        stream,
        subscriptions,
    } = wanted.map_err(|error| {
        text(
            StatusCode::BAD_REQUEST,
            &format!("There is no event stream: {error}."),
        )
    })?;
    Ok(Opening {
        request: shard.connect_request(&request, peer),
        stream,
        subscriptions,
        cors: http::HeaderMap::new(),
    })
}
