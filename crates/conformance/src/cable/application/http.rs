//! The contract as JSON over HTTP (docs/protocols/rpc.md, Over HTTP).

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde::{Serialize, de::DeserializeOwned};
use tokio::net::TcpStream;

use super::{Calls, MOUNT};

/// The longest accepted request. Reason: a request has at most a client's message and the headers of one request.
const MOST_REQUEST_BYTES: usize = 4 << 20;

/// Answers the calls of one connection until it ends. How it ends is the caller's business: it sees its calls fail.
pub(super) async fn serve(socket: TcpStream, calls: Arc<Calls>) {
    let Ok(()) = socket.set_nodelay(true) else { return };
    let answer = service_fn(move |request| {
        let calls = Arc::clone(&calls);
        async move { Ok::<_, Infallible>(answer(request, &calls).await) }
    });
    let _caller_sees_it = http1::Builder::new()
        .serve_connection(TokioIo::new(socket), answer)
        .await;
}

async fn answer(request: Request<Incoming>, calls: &Calls) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let call = head.uri.path().strip_prefix(MOUNT).unwrap_or_default();
    if head.method != Method::POST {
        return text(StatusCode::METHOD_NOT_ALLOWED, "calls are sent with POST");
    }
    let Ok(body) = Limited::new(body, MOST_REQUEST_BYTES).collect().await else {
        return text(StatusCode::PAYLOAD_TOO_LARGE, "a call has at most 4 MiB");
    };
    let body = body.to_bytes();
    let sid = head.headers.get("x-anycable-meta-sid");
    let sid = sid.and_then(|sid| sid.to_str().ok()).unwrap_or_default();
    match call {
        "/connect" => reply(parsed(&body).map(|request| calls.connect(sid, request))),
        "/command" => match parsed(&body) {
            Ok(message) => reply(Ok(calls.command(sid, message).await)),
            Err(error) => reply::<()>(Err(error)),
        },
        "/disconnect" => match parsed(&body) {
            Ok(request) => reply(Ok(calls.disconnect(request).await)),
            Err(error) => reply::<()>(Err(error)),
        },
        _ => text(
            StatusCode::NOT_FOUND,
            "the calls are connect, command and disconnect",
        ),
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(body)
}

fn reply<T: Serialize>(reply: Result<T, serde_json::Error>) -> Response<Full<Bytes>> {
    match reply.and_then(|reply| serde_json::to_vec(&reply)) {
        Ok(body) => {
            let mut response = Response::new(Full::from(body));
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Err(error) => text(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
    }
}

fn text(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text.to_owned()));
    *response.status_mut() = status;
    response
}
